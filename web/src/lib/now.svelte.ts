/* The time for everything that says "ago": one clock that ticks for all. */

const TICK_MS = 1000;

class Now {
  ms = $state(Date.now());
}
export const now = new Now();

window.setInterval(() => {
  if (!document.hidden) now.ms = Date.now();
}, TICK_MS);
