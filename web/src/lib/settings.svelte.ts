/* What one person prefers in this browser: colours, clock, and the name that the audit shows. */

export type Theme = "system" | "light" | "dark";
export type Clock = "local" | "utc";

const STORED_AS = "impound.settings";
const ACTOR_MAX = 255;

interface Settings {
  theme: Theme;
  clock: Clock;
  actor: string;
}

function stored(): Settings {
  const usual: Settings = { theme: "system", clock: "local", actor: "" };
  try {
    return { ...usual, ...JSON.parse(localStorage.getItem(STORED_AS) ?? "{}") };
  } catch {
    return usual;
  }
}

export const settings = $state(stored());

export function saveSettings(change: Partial<Settings>): void {
  Object.assign(settings, change);
  settings.actor = settings.actor.trim().slice(0, ACTOR_MAX);
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(settings));
  } catch {
    /* A browser that stores nothing forgets it at the next load; nothing else depends on it. */
  }
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = settings.theme;
}
