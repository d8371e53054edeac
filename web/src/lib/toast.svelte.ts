/* Short notices of what was done, and of what went wrong, at the edge of the page. */

const SHOWN_MS = 6000;

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
  href?: string;
}

export const toasts = $state<Toast[]>([]);
let last = 0;

export function toast(text: string, more: { bad?: boolean; href?: string } = {}): void {
  const id = ++last;
  toasts.push({ id, text, bad: more.bad ?? false, href: more.href });
  if (!more.bad) window.setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  const place = toasts.findIndex((one) => one.id === id);
  if (place >= 0) toasts.splice(place, 1);
}
