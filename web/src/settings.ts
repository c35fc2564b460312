// The reader's choices, kept by the browser.

import { CATALOGUES, preferred } from "./i18n";

export type Keep = "tab" | "address" | "none";
export type Theme = "auto" | "light" | "dark";

export interface Settings {
  language: string;
  theme: Theme;
  keys: boolean;
  keep: Keep;
}

const NAME = "farthing-settings";

export function loadSettings(): Settings {
  const made: Settings = { language: preferred(navigator.languages), theme: "auto", keys: true, keep: "tab" };
  try {
    const stored: Partial<Settings> = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    if (stored.language !== undefined && stored.language in CATALOGUES) made.language = stored.language;
    if (stored.theme === "light" || stored.theme === "dark") made.theme = stored.theme;
    if (typeof stored.keys === "boolean") made.keys = stored.keys;
    if (stored.keep === "address" || stored.keep === "none") made.keep = stored.keep;
  } catch {
    // Unreadable choices are as good as none.
  }
  return made;
}

export function saveSettings(settings: Settings): void {
  try {
    localStorage.setItem(NAME, JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing still works.
  }
}
