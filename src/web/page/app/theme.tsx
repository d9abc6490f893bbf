/** Light, dark, or as the system has it: chosen here and remembered. */

import { useState } from "preact/hooks";
import { remember, remembered } from "./remembered.ts";

const KEY = "theme";
const THEMES = { system: "System", light: "Light", dark: "Dark" };
type Theme = keyof typeof THEMES;

const isTheme = (text: string | undefined): text is Theme => text !== undefined && text in THEMES;

function chosen(): Theme {
  const theme = remembered("localStorage", KEY);
  return isTheme(theme) ? theme : "system";
}

/** Before anything is drawn, so that nothing flashes. */
export function applyTheme(theme: Theme = chosen()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function ThemeChoice() {
  const [theme, setTheme] = useState(chosen);
  const choose = (next: string): void => {
    if (!isTheme(next)) return;
    setTheme(next);
    remember("localStorage", KEY, next === "system" ? undefined : next);
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
