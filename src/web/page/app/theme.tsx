/** The theme: light, dark, or the system's, stored in the browser. */

import { useState } from "preact/hooks";
import { writeStored, readStored } from "./browser-storage.ts";

const KEY = "theme";
const THEMES = { system: "System", light: "Light", dark: "Dark" };
type Theme = keyof typeof THEMES;

const isTheme = (text: string | undefined): text is Theme => text !== undefined && text in THEMES;

function chosen(): Theme {
  const theme = readStored("localStorage", KEY);
  return isTheme(theme) ? theme : "system";
}

/** Called before the first rendering, so that nothing flashes. */
export function applyTheme(theme: Theme = chosen()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function ThemeChoice() {
  const [theme, setTheme] = useState(chosen);
  const choose = (next: string): void => {
    if (!isTheme(next)) return;
    setTheme(next);
    writeStored("localStorage", KEY, next === "system" ? undefined : next);
    applyTheme(next);
  };
  return (
    <select
      class="theme"
      aria-label="Colours"
      title="Colours"
      value={theme}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {Object.entries(THEMES).map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  );
}
