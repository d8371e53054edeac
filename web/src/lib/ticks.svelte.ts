/* ticks: which letters of a list somebody has chosen: some, or all that match its filter. They stay until that person
   or another filter changes them, whatever arrives meanwhile, and survive a reload. */
import { SvelteSet } from "svelte/reactivity";
import { readDraft, writeDraft } from "./draft.svelte";

interface Kept {
  filter: string;
  all: boolean;
  ids: string[];
}

export class Ticks {
  readonly ids = new SvelteSet<string>();
  all = $state(false);
  private filter = "";

  constructor(private readonly name: string) {}

  get some(): boolean {
    return this.all || this.ids.size > 0;
  }
  has(id: string): boolean {
    return this.all || this.ids.has(id);
  }

  /* The list shows what `filter` chooses: what was ticked under another may not be in it. */
  under(filter: string): void {
    const kept = readDraft<Kept>(this.name);
    this.filter = filter;
    const same = kept?.filter === filter;
    this.take(same && kept.all, same ? kept.ids : []);
  }

  /* Of those that are `shown`; taking one away from all leaves the others that are shown. */
  set(ids: string[], yes: boolean, shown: string[]): void {
    const next = new Set(this.all ? shown : this.ids);
    for (const id of ids)
      if (yes) next.add(id);
      else next.delete(id);
    this.take(this.all && yes, [...next]);
  }
  setAll(): void {
    this.take(true, [...this.ids]);
  }
  clear(): void {
    this.take(false, []);
  }

  private take(all: boolean, ids: string[]): void {
    this.all = all;
    this.ids.clear();
    for (const id of ids) this.ids.add(id);
    writeDraft(this.name, this.some ? { filter: this.filter, all, ids } : undefined);
  }
}
