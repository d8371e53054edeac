/* query: something of the API on a page, kept current. What was shown stays while it is asked for anew,
   while the server does not answer, and while it answers with a problem (parts/Failed.svelte says so). */
import { untrack } from "svelte";
import { get, Problem, UNREACHABLE } from "./api";
import { live, onLive, type Topic } from "./live.svelte";

export class Query<T> {
  data = $state.raw<T>();
  problem = $state.raw<Problem>();
  asOf = $state<string | null>(null); /* when `data` came */
  loading = $state(true);
  private asked?: AbortController;
  private shown?: string;
  private missed = false; /* something happened while it was asked for: the answer may be from before */

  /* `path` is read reactively; null asks for nothing. In a component's start only. */
  constructor(
    private readonly path: () => string | null,
    topics: Topic[],
  ) {
    $effect(() => {
      const wanted = this.path();
      untrack(() => this.load(wanted, true));
      return () => this.asked?.abort();
    });
    $effect(() => onLive(topics, () => void this.load(this.path(), false)));
  }

  async again(): Promise<void> {
    await this.load(this.path(), true);
  }

  private async load(path: string | null, urgent: boolean): Promise<void> {
    this.missed = !urgent && this.asked !== undefined;
    if (path === null || this.missed) return;
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    if (path !== this.shown) this.loading = true;
    try {
      const data = await get<T>(path, asked.signal);
      if (asked.signal.aborted) return;
      this.data = data;
      this.asOf = new Date().toISOString();
      this.shown = path;
      this.problem = undefined;
      live.heard(true);
    } catch (trouble) {
      if (asked.signal.aborted) return;
      this.problem = trouble instanceof Problem ? trouble : new Problem(-1, "Not understood", String(trouble));
      if (this.problem.status !== UNREACHABLE && path !== this.shown) this.data = undefined;
      live.heard(this.problem.status !== UNREACHABLE);
    } finally {
      if (this.asked === asked) this.asked = undefined;
      if (!asked.signal.aborted) {
        this.loading = false;
        if (this.missed) void this.load(this.path(), false);
      }
    }
  }
}
