/* The public API (GET /openapi.json), and nothing else, with problem documents as errors. */
import { settings } from "./settings.svelte";

export interface Queue {
  queue: string;
  state: "running" | "paused" | "halted";
  why: string | null;
  depth: number;
  in_flight: number;
  pending_retry: number;
  delayed: number;
  breaker: { state: "closed" | "open" | "half_open"; until: string | null };
  budget: { remaining_ratio: number };
  lag: number;
  rates: { in_per_minute: number; ok_per_minute: number; failed_per_minute: number };
  dlq_full: boolean;
  awaiting_room: number;
  concurrency: number | null;
  source: string | null;
  handler: string | null;
}

export interface Adoption {
  adopt: string;
  mode: "peek" | "take";
  dlq: string;
  queue: string | null;
  state: "waiting" | "reading" | "done" | "refused";
  trouble: string | null;
  adopted: number;
  taken: number;
  known: number;
  last_at: string | null;
}

export type Counts = Record<string, number>;

export interface Dlq {
  dlq: string;
  depth: number;
  cap: number | null;
  spilled: number;
  total: number;
  arrivals_per_minute: number;
  oldest_age_seconds: number | null;
  by_state: Counts;
  by_category: Counts;
  by_reason: Counts;
  age_histogram: Counts;
  owner: string | null;
}

export interface Failure {
  kind: string;
  status: number | null;
  exit_code?: number | null;
  signal?: number | null;
  error_type: string | null;
  error_message: string | null;
  stack_trace?: string | null;
  fingerprint: string;
  retry_after_ms: number | null;
}

export interface Attempt {
  attempt: number;
  at: string | null;
  duration_ms: number;
  verdict: string | null;
  category: string | null;
  error_type: string | null;
  error_message: string | null;
  delay_ms: number | null;
  counted?: boolean;
  replay?: number;
  probe?: boolean;
  compensation?: boolean;
}

/* A text, or bytes that are none. */
export type Bytes = string | { base64: string };

export interface Message {
  id: string;
  queue: string;
  key: Bytes | null;
  headers: Record<string, Bytes>;
  header_pairs?: [string, Bytes][];
  content_type: string;
  body?: unknown;
  body_base64?: string;
  content_hash: string;
  size: number;
}

/* A letter, or a message that is none yet: that has neither an id of its own nor a DLQ. */
export interface Letter {
  id: string;
  dlq: string;
  state: string;
  cause: string | null;
  category: string | null;
  reason: string | null;
  message: Message;
  source: Record<string, unknown> | null;
  failure: Failure | null;
  attempts: number;
  max_attempts: number;
  probes?: number;
  crashes: number;
  replays: number;
  history?: Attempt[];
  created_at: string;
  first_failure_at: string | null;
  dead_at: string | null;
  resolved_at: string | null;
  resolution: string | null;
  consumer: { instance?: string | null; version?: string | null } | null;
  task: { id?: string | null; type?: string | null } | null;
  context: Record<string, unknown> | null;
  owner: string | null;
  rule: string | null;
  next_attempt_at: string | null;
  escalated_at: string | null;
  why: string | null;
  blocked_by: string | null;
  replay: string | null;
  edited?: boolean;
  read_only?: boolean;
  original?: { body: unknown };
}

/* What a list leaves out, or does not show yet. */
export interface Listed {
  cursor: string | null;
  behind?: number;
  damaged?: string[]; /* ids */
  skipped?: number;
  skipped_why?: string;
  looked_at?: number;
}

export interface Letters extends Listed {
  letters: Letter[];
}

export interface Messages extends Listed {
  messages: Letter[];
}

export interface Explanation {
  summary: string;
  steps: string[];
  rule: Record<string, unknown> | null;
  limits: Record<string, unknown>;
}

export interface Group {
  fingerprint: string;
  dlqs: string[];
  count: number;
  total: number;
  first_seen: string;
  last_seen: string;
  category: string | null;
  reason: string | null;
  error_type: string | null;
  error_message: string | null;
  rule: string | null;
  sample: string | null;
  versions: string[];
  state: "open" | "muted" | "resolved";
  note: string | null;
  owner: string | null;
  why: string | null;
  changed_at: string | null;
  returned_at: string | null;
  arrivals: number[];
}

export interface Replay {
  id: string;
  state: string;
  why: string | null;
  selected: number;
  sent: number;
  resolved: number;
  failed: number;
  skipped: number;
  outcomes: Counts;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  filter: unknown;
  limit: number | null;
  order: "oldest" | "newest" | null;
  edit: string | null;
  to: string | null;
  rate: string;
  canary: number[];
  ramp: boolean;
  abort: boolean;
  stale: "skip" | "send";
  who: string | null;
  order_why: string | null;
  queues: string[];
  dlqs: string[];
  letters?: { id: string; queue: string; outcome: string; why?: string }[];
  cursor?: string | null;
}

export interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

export interface Plan {
  count: number;
  selected: number;
  stale: number;
  over_replayed: number;
  to_check: number;
  read_only: number;
  damaged?: number;
  until?: string;
  skipped: number;
  skipped_why?: string;
  groups: { fingerprint: string; count: number; sample: string | null }[];
  destinations: { queue?: string; origin?: string; count: number }[];
  samples: { id: string; message_id: string; queue: string; before: unknown; after?: unknown; diff?: Change[]; problem?: string }[];
  estimated_seconds: number;
}

export interface Ruled {
  action: string;
  dry_run: boolean;
  matched: number;
  count: number;
  busy: number;
  unable?: number;
  cursor: string | null;
  until?: string;
  read_only?: number;
  damaged?: number;
  skipped?: number;
  skipped_why?: string;
}

export interface Alert {
  alert: string;
  state: "pending" | "firing";
  severity: "info" | "warning" | "critical";
  metric: string;
  subject: string;
  value: number;
  above?: number;
  below?: number;
  since: string;
  fired_at: string | null;
  told_at: string | null;
  owed: number;
  summary: string;
  owner: string | null;
  runbook: string | null;
  inhibited_by: string | null;
}

export interface AlertRule {
  alert: string;
  metric: string;
  subject: string;
  severity: Alert["severity"];
  above?: number;
  below?: number;
  for_seconds: number;
  runbook: string | null;
  inhibited_by: string | null;
  to: string[];
}

export interface AuditEntry {
  id: string;
  at: string;
  who: string;
  what: string;
  why: string | null;
  subject: string | null;
  filter: unknown;
  count: number;
  before: unknown;
  after: unknown;
}

export interface Arrivals {
  window: string;
  step_seconds: number;
  steps: number;
  from: string;
  categories: Record<string, number[]>;
}

/* Why a call did not do what was asked: the server's own words where it gave any. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
  ) {
    super(detail);
  }
}

export const UNREACHABLE = 0;

async function problemOf(answer: Response): Promise<Problem> {
  const text = await answer.text();
  try {
    const said = JSON.parse(text);
    return new Problem(answer.status, said.title ?? answer.statusText, said.detail ?? text);
  } catch {
    return new Problem(answer.status, answer.statusText, `the server answered ${answer.status}`);
  }
}

async function ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (settings.actor) headers["Impound-Actor"] = encodeActor(settings.actor);
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (trouble) {
    if (signal?.aborted) throw trouble;
    throw new Problem(UNREACHABLE, "No answer", "The server does not answer. It may be restarting.");
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

/* Headers carry Latin-1; a name in any other script goes as its UTF-8 bytes. */
function encodeActor(name: string): string {
  return String.fromCharCode(...new TextEncoder().encode(name));
}

/* Integers beyond 2^53 would silently change: where the browser can tell, they are shown as they came. */
const EXACT = /^-?(?:0|[1-9]\d*)$/;
const asSent = (_key: string, value: unknown, context?: { source: string }) =>
  typeof value === "number" && context && EXACT.test(context.source) && !Number.isSafeInteger(value)
    ? new ExactNumber(context.source)
    : value;

/* A number as it is written in the message. */
export class ExactNumber {
  constructor(readonly text: string) {}
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const text = await (await ask("GET", path, undefined, signal)).text();
  return JSON.parse(text, asSent as (key: string, value: unknown) => unknown);
}

export async function send<T>(method: "POST" | "PATCH", path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await ask(method, path, body, signal)).json();
}

export async function download(path: string, body: unknown): Promise<Blob> {
  return (await ask("POST", path, body)).blob();
}

/* "/v1/letters" and {dlq: "a"} → "/v1/letters?dlq=a"; empty values are left out. */
export function withQuery(path: string, query: Record<string, string | number | undefined | null>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== "") parameters.set(name, String(value));
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

export const letterPath = (id: string) => `/v1/letters/${encodeURIComponent(id)}`;
export const messagePath = (id: string) => `/v1/messages/${encodeURIComponent(id)}`;
export const replayPath = (id: string) => `/v1/replays/${encodeURIComponent(id)}`;
export const groupPath = (fingerprint: string) => `/v1/groups/${encodeURIComponent(fingerprint)}`;
export const queuePath = (name: string) => `/v1/queues/${encodeURIComponent(name)}`;
