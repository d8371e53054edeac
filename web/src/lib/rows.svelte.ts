/* rows: which row of a list the keys are at. It is known by its id, so that they act on the row that has the focus whatever
   arrives above it; and who comes back to the same list is at the same row. */
import { untrack } from "svelte";
import { on } from "svelte/events";

interface Place {
  list: string;
  id?: string;
  at: number; /* where the row was last: when it goes, the keys go on from there */
}
const places = new Map<string, Place>();

export class Rows {
  id = $state<string>();
  private wanted = $state(false); /* the row of before, as soon as it is shown */

  /* A row has `data-{kind}`, its id, on what takes the focus. `list` says which list it is, `ids` what it shows now; both are
     read reactively. In a component's start only. */
  constructor(
    private readonly kind: "letter" | "group" | "alert",
    private readonly list: () => string,
    private readonly ids: () => string[],
  ) {
    $effect(() => {
      const list = this.list();
      untrack(() => this.comeTo(list));
    });
    $effect(() => {
      const at = this.ids().indexOf(this.id ?? "");
      if (at >= 0) untrack(() => this.shownAt(at));
    });
    $effect(() => on(document, "focusin", (event) => this.hear(event.target as Element)));
  }

  /* The row, while it is shown. */
  get here(): string | undefined {
    return this.ids().find((id) => id === this.id);
  }

  move(step: 1 | -1): void {
    const ids = this.ids();
    const known = ids.indexOf(this.id ?? "");
    const gone = this.place().at - (step > 0 ? 1 : 0);
    this.set(ids[Math.min(ids.length - 1, Math.max(0, (known < 0 ? gone : known) + step))]);
    this.focus();
  }

  /* It is in sight, Enter opens it, a screen reader says it. */
  focus(): void {
    document.querySelector<HTMLElement>(`[data-${this.kind}="${CSS.escape(this.id ?? "")}"]`)?.focus();
  }

  private place(): Place {
    return places.get(this.kind) ?? { list: this.list(), at: 0 };
  }

  private set(id: string | undefined): void {
    this.id = id;
    this.wanted = false;
    places.set(this.kind, { ...this.place(), id });
  }

  private comeTo(list: string): void {
    if (this.place().list !== list) places.delete(this.kind);
    this.id = this.place().id;
    this.wanted = this.id !== undefined;
  }

  /* The row of before takes the focus unless somebody is elsewhere already. */
  private shownAt(at: number): void {
    places.set(this.kind, { ...this.place(), at });
    const free = document.activeElement === document.body || document.activeElement?.id === "main";
    if (this.wanted && free) this.focus();
    this.wanted = false;
  }

  private hear(focused: Element): void {
    const mark = `[data-${this.kind}]`;
    const row = focused.closest<HTMLElement>(mark) ?? focused.closest("tr")?.querySelector<HTMLElement>(mark);
    if (row) this.set(row.dataset[this.kind]);
  }
}
