/* stream: what the server tells at /v1/events, as one stream. A page has it through the worker that all windows share
   (stream_worker.ts), or where the browser has no such worker by itself. */

export const TOPICS = ["letter", "queue", "breaker", "replay"] as const;
export type Topic = (typeof TOPICS)[number];

/* Something happened, or whether the stream is open has changed. */
export type Notice = { topic: Topic } | { open: boolean };

const REOPEN_MS = 5_000;

/* Returns what ends it. */
export function openStream(tell: (notice: Notice) => void): () => void {
  let source: EventSource;
  let reopening: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    source = new EventSource("/v1/events");
    source.onopen = () => tell({ open: true });
    source.onerror = () => {
      tell({ open: false });
      /* A browser tries again by itself, unless the server refused the stream. */
      if (source.readyState === EventSource.CLOSED) reopening = setTimeout(open, REOPEN_MS);
    };
    for (const topic of TOPICS) source.addEventListener(topic, () => tell({ topic }));
  }

  open();
  return () => {
    clearTimeout(reopening);
    source.close();
  };
}
