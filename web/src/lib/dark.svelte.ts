/* Whether the page is dark now: by choice, or as the system is. */
import { isDark } from "./category";
import { settings } from "./settings.svelte";

const system = matchMedia("(prefers-color-scheme: dark)");

class Dark {
  private changes = $state(0);

  constructor() {
    system.addEventListener("change", () => this.changes++);
  }

  get on(): boolean {
    void this.changes;
    void settings.theme;
    return isDark();
  }
}
export const dark = new Dark();
