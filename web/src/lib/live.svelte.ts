/* live: when to look again.
 *
 * The server tells at /v1/events what happens; whoever shows something that it concerns asks for it anew.
 * While no stream is open, everybody asks every few seconds instead, and a stream is tried again.
 * A browser keeps six connections to a host for all its tabs, and a stream takes one for as long as it is open: a tab
 * that nobody sees has none, or the seventh tab would wait for ever. */

export type Topic = "letter" | "queue" | "breaker" | "replay";

const TOPICS: Topic[] = ["letter", "queue", "breaker", "replay"];
const GATHER_MS = 400; /* a burst of events is one reason to look again */
const STREAM_POLL_MS = 10_000; /* ages and rates change without any event */
const PLAIN_POLL_MS = 3_000;
const REOPEN_MS = 5_000;

export type Link = "live" | "polling" | "lost";
type Listener = (topics: Set<Topic>) => void;

const everything = new Set(TOPICS);
const listeners = new Set<Listener>();
let gathered = new Set<Topic>();
let gathering: number | undefined;
let polling: number | undefined;
let source: EventSource | undefined;
let reopening: number | undefined;

class Live {
  streaming = $state(false);
  answering = $state(true);
  link: Link = $derived(!this.answering ? "lost" : this.streaming ? "live" : "polling");

  /* A call was answered, or not. */
  heard(answered: boolean): void {
    this.answering = answered;
  }
}
export const live = new Live();

function tell(topics: Set<Topic>): void {
  for (const listener of [...listeners]) listener(topics);
}

function gather(topic: Topic): void {
  gathered.add(topic);
  gathering ??= window.setTimeout(() => {
    const topics = gathered;
    gathered = new Set();
    gathering = undefined;
    tell(topics);
  }, GATHER_MS);
}

function poll(): void {
  window.clearTimeout(polling);
  polling = window.setTimeout(
    () => {
      if (!document.hidden) tell(everything);
      poll();
    },
    live.streaming ? STREAM_POLL_MS : PLAIN_POLL_MS,
  );
}

function setStreaming(streaming: boolean): void {
  if (live.streaming === streaming) return;
  live.streaming = streaming;
  poll();
  if (streaming) tell(everything); /* what happened while nobody listened */
}

function close(): void {
  window.clearTimeout(reopening);
  source?.close();
  source = undefined;
}

function open(): void {
  close();
  source = new EventSource("/v1/events");
  source.onopen = () => setStreaming(true);
  source.onerror = () => {
    setStreaming(false);
    /* A browser tries again by itself, unless the server refused the stream. */
    if (source?.readyState === EventSource.CLOSED) reopening = window.setTimeout(open, REOPEN_MS);
  };
  for (const topic of TOPICS) source.addEventListener(topic, () => gather(topic));
}

function seenOrNot(): void {
  if (document.hidden) {
    close();
    setStreaming(false);
  } else {
    open();
    tell(everything);
  }
}

export function startLive(): void {
  if (!document.hidden) open();
  poll();
  document.addEventListener("visibilitychange", seenOrNot);
}

/* Returns what ends it. */
export function onLive(topics: Topic[], look: () => void): () => void {
  const listener: Listener = (happened) => {
    if (topics.some((topic) => happened.has(topic))) look();
  };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/* Somebody on this page changed something: everybody looks again at once. */
export function lookAgain(): void {
  tell(everything);
}
