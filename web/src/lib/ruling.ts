/* ruling: a decision about many letters, or messages that wait. A search that takes the server long answers in parts, and goes on from where
   the part before it ended. */
import { send, type Ruled } from "./api";
import type { Choice } from "./choice";

export type Action = "resolve" | "discard" | "escalate" | "bury";
/* Messages that wait are decided about by calls of their own. */
export type Kind = "letter" | "message";

function add(sum: Ruled, part: Ruled): Ruled {
  return {
    ...sum,
    matched: sum.matched + part.matched,
    count: sum.count + part.count,
    busy: sum.busy + part.busy,
    read_only: (sum.read_only ?? 0) + (part.read_only ?? 0),
    damaged: (sum.damaged ?? 0) + (part.damaged ?? 0),
    skipped: (sum.skipped ?? 0) + (part.skipped ?? 0),
    skipped_why: sum.skipped_why ?? part.skipped_why,
  };
}

async function decide(kind: Kind, action: Action, order: Choice & { why?: string; dry_run?: true }, signal?: AbortSignal): Promise<Ruled> {
  const path = `/v1/${kind}s/${action}`;
  let part = await send<Ruled>("POST", path, order, signal);
  let sum = part;
  while (part.cursor) {
    part = await send<Ruled>("POST", path, { ...order, cursor: part.cursor }, signal);
    sum = add(sum, part);
  }
  return sum;
}

/* What it would come to; `until` of the answer is the moment behind the newest letter that was seen. */
export const tryMany = (kind: Kind, action: Action, choice: Choice, signal?: AbortSignal) => decide(kind, action, { ...choice, dry_run: true }, signal);
export const ruleMany = (kind: Kind, action: Action, choice: Choice, why: string) => decide(kind, action, { ...choice, why });
