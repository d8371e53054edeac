/* Whether bodies are shown at once: the server may say that somebody has to ask for each. */
import { get } from "./api";

class Payloads {
  hidden = $state(true); /* until the server has said otherwise */
}
export const payloads = new Payloads();

export async function learnPayloads(): Promise<void> {
  try {
    payloads.hidden = (await get<{ payloads?: string }>("/healthz")).payloads === "hidden";
  } catch {
    /* They stay hidden; the next load asks again. */
  }
}
