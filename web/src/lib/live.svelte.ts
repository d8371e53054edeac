/* live: when to look again.
 *
 * The server tells at /v1/events what happens; whoever shows something that it concerns asks for it anew.
 * While no stream is open, everybody asks every few seconds instead, and a stream is tried again.
 * A browser keeps six connections to a host for all its windows, and a stream takes one for as long as it is open: so all
 * of them share one, and where that is not to be had at least a window that nobody sees has none. */
import { openStream, TOPICS, type Notice, type Topic } from "./stream";

export type { Topic };

const GATHER_MS = 400; /* a burst of events is one reason to look again */
const STREAM_POLL_MS = 10_000; /* ages and rates change without any event */
const PLAIN_POLL_MS = 3_000;

export type Link = "live" | "polling" | "lost";
type Listener = (topics: Set<Topic>) => void;

const everything = new Set<Topic>(TOPICS);
const listeners = new Set<Listener>();
let gathered = new Set<Topic>();
let gathering: number | undefined;
let polling: number | undefined;
let listen: (yes: boolean) => void = listenAlone;

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

function hear(notice: Notice): void {
  if (document.hidden) return; /* it was on its way */
  if ("topic" in notice) gather(notice.topic);
  else setStreaming(notice.open);
}

let close: (() => void) | undefined;
function listenAlone(yes: boolean): void {
  close?.();
  close = yes ? openStream(hear) : undefined;
}

/* Throws where a browser has no worker for all its windows. */
function shareStream(): void {
  const worker = new SharedWorker(new URL("./stream_worker.ts", import.meta.url), { type: "module" });
  worker.port.onmessage = (said: MessageEvent<Notice>) => hear(said.data);
  worker.onerror = () => {
    listen = listenAlone;
    seenOrNot();
  };
  listen = (yes) => worker.port.postMessage(yes);
}

function seenOrNot(): void {
  listen(!document.hidden);
  if (document.hidden) setStreaming(false);
  else tell(everything);
}

export function startLive(): void {
  try {
    shareStream();
  } catch {
    /* each window has its own */
  }
  if (!document.hidden) listen(true);
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
