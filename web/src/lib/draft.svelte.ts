/* draft: what somebody began and did not send yet. It survives a reload of its tab. */

const STORED_AS = "impound.draft.";

export function readDraft<T>(name: string): T | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(STORED_AS + name) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/* Undefined: nothing is begun. */
export function writeDraft(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(STORED_AS + name);
    else sessionStorage.setItem(STORED_AS + name, JSON.stringify(value));
  } catch {
    /* A browser that stores nothing, or has no room: the page itself still has it. */
  }
}

/* A text under somebody's hands; until they touch it, `usual` shows through. */
export class Draft {
  private typed = $state<string>();

  constructor(
    private readonly name: string,
    private readonly usual: () => string = () => "",
  ) {
    this.typed = readDraft(name);
  }

  get text(): string {
    return this.typed ?? this.usual();
  }
  set text(next: string) {
    this.typed = next;
    writeDraft(this.name, next);
  }
  get begun(): boolean {
    return this.typed !== undefined;
  }

  /* It was sent, or given up. */
  forget(): void {
    this.typed = undefined;
    writeDraft(this.name, undefined);
  }
}
