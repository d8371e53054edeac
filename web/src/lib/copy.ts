/* copy: a text for the clipboard. A browser has none to give on plain http from another host, or may refuse it. */
import { toast } from "./toast.svelte";

export async function copy(text: string, said = "Copied."): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    toast("The browser gives no clipboard here: mark the text and copy it by hand.", { bad: true });
  }
}
