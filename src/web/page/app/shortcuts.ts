/** Keyboard shortcuts, active everywhere except in text fields. */

import { useEffect } from "preact/hooks";
import { writeStored, readStored } from "./browser-storage.ts";
import { go } from "./router.ts";

export const SHORTCUTS = [
  { key: "/", text: "Search the runs" },
  { key: "n", text: "Ask a question" },
  { key: "?", text: "Show these keys" },
];

const OFF = "shortcuts-off";

/** Speech input types letters by accident, so shortcuts can be turned off (WCAG 2.1.4). */
export const shortcutsAreOn = (): boolean => readStored("localStorage", OFF) === undefined;

export const switchShortcuts = (on: boolean): void => writeStored("localStorage", OFF, on ? undefined : "1");

export function useShortcuts(showHelp: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isBusy(event.target)) return;
      if (!SHORTCUTS.some(({ key }) => key === event.key) || !shortcutsAreOn()) return;
      event.preventDefault();
      if (event.key === "/") search();
      else if (event.key === "n") go("/start");
      else showHelp();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

const isBusy = (target: EventTarget | null): boolean =>
  document.querySelector("dialog[open]") !== null ||
  (target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select")));

export const SEARCH = "search";

function search(): void {
  const box = document.querySelector<HTMLInputElement>(`#${SEARCH}`);
  if (box !== null) box.select();
  // The search field exists only in the list.
  else go(`/#${SEARCH}`);
}
