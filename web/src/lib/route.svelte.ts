/* route: the address bar says what is shown: "#/letters?dlq=orders.dlq&reason=timeout". */

export const PAGES = [
  { page: "overview", title: "Overview", key: "o" },
  { page: "letters", title: "Letters", key: "l" },
  { page: "groups", title: "Groups", key: "g" },
  { page: "replays", title: "Replays", key: "r" },
  { page: "queues", title: "Queues", key: "q" },
  { page: "alerts", title: "Alerts", key: "a" },
  { page: "audit", title: "Audit", key: "u" },
] as const;

export type Page = (typeof PAGES)[number]["page"];
export type Words = Record<string, string>;

interface Route {
  page: Page;
  id: string | null;
  words: Words;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function read(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page, ...rest] = path.split("/");
  const known = PAGES.find((one) => one.page === page)?.page ?? "overview";
  return {
    page: known,
    id: rest.length > 0 && rest[0] !== "" ? decode(rest.join("/")) : null,
    words: Object.fromEntries(new URLSearchParams(query)),
  };
}

export const route = $state(read(location.hash));

window.addEventListener("hashchange", () => Object.assign(route, read(location.hash)));

export function href(page: Page, id?: string | null, words: Words = {}): string {
  const kept = Object.entries(words).filter(([, value]) => value !== "");
  const query = new URLSearchParams(kept).toString();
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ""}${query ? `?${query}` : ""}`;
}

export function go(to: string): void {
  location.hash = to;
}

/* Changes words of the page that is shown; an empty value takes one away. */
export function setWords(change: Words): void {
  const words = { ...route.words, ...change };
  history.replaceState(null, "", href(route.page, route.id, words));
  Object.assign(route, read(location.hash));
}
