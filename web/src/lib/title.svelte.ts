/* title: what the window is called: the page, or what it is about where a page is of one thing. */
import { clip } from "./format";

const TITLE_MAX = 80;

class Title {
  about = $state("");
}
export const title = new Title();

/* As long as a component is there; `about` is read reactively. In a component's start only. */
export function useTitle(about: () => string | undefined): void {
  $effect(() => {
    title.about = clip(about() ?? "", TITLE_MAX);
    return () => (title.about = "");
  });
}
