/* choice: which letters an action is about, as the address bar says it and as the API takes it. */
import type { Words } from "./route.svelte";

/* The words that choose letters (docs/triage.md), in the order in which they are shown. */
export const FILTERS = [
  "q",
  "dlq",
  "state",
  "category",
  "reason",
  "cause",
  "error_type",
  "fingerprint",
  "queue",
  "key",
  "since",
  "until",
  "min_attempts",
  "escalated",
  "where",
] as const;

export interface Choice {
  ids?: string[];
  filter?: Words;
  all?: true;
  limit?: number;
}

export function filterOf(words: Words): Words {
  return Object.fromEntries(FILTERS.filter((name) => words[name]).map((name) => [name, words[name]!]));
}

export function choiceOf(words: Words): Choice {
  const limit = Number(words.limit) > 0 ? { limit: Number(words.limit) } : {};
  if (words.ids) return { ids: words.ids.split(",") };
  const filter = filterOf(words);
  return Object.keys(filter).length > 0 ? { filter, ...limit } : { all: true, ...limit };
}

export function wordsOf(choice: Choice): Words {
  if (choice.ids) return { ids: choice.ids.join(",") };
  return choice.all ? { all: "yes" } : { ...choice.filter };
}

/* The choice of an order that the server has: a filter, ids or everything. */
export function describe(filter: unknown): string {
  if (filter === null || typeof filter !== "object") return "–";
  const of = filter as Record<string, unknown>;
  if (Array.isArray(of.ids)) return of.ids.length === 1 ? `letter ${String(of.ids[0])}` : `${of.ids.length} letters by id`;
  if (of.all === true) return "every letter";
  return Object.entries(of)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(", ");
}

/* The same, as the address bar says it. */
export function wordsOfOrder(filter: unknown): Words {
  const of = (filter ?? {}) as Record<string, unknown>;
  if (Array.isArray(of.ids)) return { ids: of.ids.join(",") };
  if (of.all === true) return { all: "yes" };
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, String(value)]));
}
