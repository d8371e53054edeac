/* stream_worker: one stream for all windows of a browser, open while one of them listens. A window says true when it is
   seen and false when it is not; it is told everything that the stream tells. */
import { openStream, type Notice } from "./stream";

const listening = new Set<MessagePort>();
let close: (() => void) | undefined;
let open = false;

function tell(notice: Notice): void {
  if ("open" in notice) open = notice.open;
  for (const port of listening) port.postMessage(notice);
}

function listen(port: MessagePort, yes: boolean): void {
  if (yes) listening.add(port);
  else listening.delete(port);
  if (listening.size === 0) {
    close?.();
    close = undefined;
    open = false;
  } else if (close) {
    port.postMessage({ open } satisfies Notice);
  } else {
    close = openStream(tell);
  }
}

self.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port) port.onmessage = (said: MessageEvent<boolean>) => listen(port, said.data);
});
