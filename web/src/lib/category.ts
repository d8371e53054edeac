/* One colour for each category, everywhere. Users may add categories; those get one by their name. */

/* For light and dark grounds. */
const COLOURS: Record<string, [string, string]> = {
  transient: ["#3f6fd8", "#7ea3ff"],
  rate_limit: ["#1593ad", "#4fc3da"],
  timeout: ["#2a9d8f", "#5fd0c2"],
  auth: ["#8250c4", "#b794f4"],
  validation: ["#dd8a1d", "#f2b25c"],
  content_policy: ["#c2508f", "#f08cc0"],
  not_found: ["#8c7b62", "#c4b196"],
  model_gone: ["#6b5bd2", "#a79bff"],
  external: ["#4b7f3f", "#8fcf7f"],
  crash: ["#c93a32", "#ff7d74"],
  bug: ["#d9623b", "#ff9a73"],
  unknown: ["#77777a", "#a2a2a8"],
};
const SPARE: [string, string][] = [
  ["#5b8a72", "#93c9ae"],
  ["#a3683f", "#d79d74"],
  ["#5473a8", "#8fb0e6"],
  ["#9a5f7f", "#d199b8"],
];

function hash(text: string): number {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}

export function isDark(): boolean {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

export function colourOf(category: string, dark: boolean): string {
  const pair = COLOURS[category] ?? SPARE[hash(category) % SPARE.length]!;
  return pair[dark ? 1 : 0];
}
