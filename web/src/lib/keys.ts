/* keys: one letter does something, where nobody types. "g" and a page's letter goes to that page. */

export interface Key {
  key: string;
  does: string;
  run: () => void;
}

const SECOND_KEY_MS = 1500;
const pages = new Map<string, () => void>();
let layers: Key[][] = [];
let going = 0; /* until when a page's letter is waited for */

export const shownKeys = (): Key[] => layers.flat();

/* As long as a component is there; the newest layer goes first. Returns what ends it. */
export function useKeys(keys: Key[]): () => void {
  layers = [keys, ...layers];
  return () => {
    layers = layers.filter((layer) => layer !== keys);
  };
}

export function usePageKey(key: string, run: () => void): void {
  pages.set(key, run);
}

function typing(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function find(key: string): (() => void) | undefined {
  if (Date.now() < going) {
    going = 0;
    return pages.get(key);
  }
  return layers.flat().find((one) => one.key === key)?.run;
}

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (typing(event.target)) {
    if (event.key === "Escape") (event.target as HTMLElement).blur();
    return;
  }
  if (event.key === "g" && Date.now() >= going) {
    going = Date.now() + SECOND_KEY_MS;
    return;
  }
  /* Enter belongs to the link or button that has the focus. */
  if (event.key === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary")) return;
  const run = find(event.key);
  if (!run) return;
  event.preventDefault();
  run();
}

window.addEventListener("keydown", pressed);
