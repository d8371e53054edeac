/* choice: which letters an action is about, as the address bar says it and as the API takes it. */
import type { Replay } from "./api";
import { moment } from "./format";
import type { Words } from "./route.svelte";
import type { Kind } from "./ruling";
import { settings } from "./settings.svelte";

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

/* What a dry run saw, and nothing that came since: `until` is from its answer. */
export function asSeen(choice: Choice, until: string | undefined): Choice {
  if (choice.ids || !until) return choice;
  return { filter: { ...choice.filter, until }, ...(choice.limit ? { limit: choice.limit } : {}) };
}

/* The choice of an order that the server has: a filter, ids or everything. `until` is about the death of a letter and the
   arrival of a message. */
export function describe(filter: unknown, kind: Kind = "letter"): string {
  if (filter === null || typeof filter !== "object") return "–";
  const of = filter as Record<string, unknown>;
  if (Array.isArray(of.ids)) return of.ids.length === 1 ? `${kind} ${String(of.ids[0])}` : `${of.ids.length} ${kind}s by id`;
  const words = Object.entries(of).filter(([name]) => !["all", "until"].includes(name));
  const said = words.map(([name, value]) => `${name}: ${String(value)}`).join(", ") || `every ${kind}`;
  return of.until === undefined ? said : `${said}, ${kind === "letter" ? "dead" : "arrived"} before ${moment(String(of.until), settings.clock)}`;
}

/* The same, as the address bar says it, for another try. Letters that died again are dead since after its `until`, so
   that goes; the next dry run says what it comes to. */
function wordsOfFilter(filter: unknown): Words {
  const { until: _until, all: _all, ids, ...words } = (filter ?? {}) as Record<string, unknown>;
  if (Array.isArray(ids)) return { ids: ids.join(",") };
  if (Object.keys(words).length === 0) return { all: "yes" };
  return Object.fromEntries(Object.entries(words).map(([name, value]) => [name, String(value)]));
}

/* What a replay was ordered with, for a plan of what is still there (parts/ReplayPlan.svelte). */
export function wordsOfOrder(order: Replay): Words {
  return {
    ...wordsOfFilter(order.filter),
    limit: String(order.limit ?? ""),
    edit: order.edit ?? "",
    to: order.to ?? "",
    rate: order.rate,
    canary: order.canary.join(",") || "off",
    ramp: order.ramp ? "" : "off",
    stale: order.stale === "send" ? "send" : "",
  };
}
