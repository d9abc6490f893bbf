/** Keyboard shortcuts, active everywhere except in text fields. */

import { useEffect } from "preact/hooks";
import { writeStored, readStored } from "./browser-storage.ts";
import { go } from "./router.ts";

export type Shortcut =
  | "search"
  | "start"
  | "runs"
  | "figures"
  | "next"
  | "previous"
  | "star"
  | "rename"
  | "archive"
  | "undo"
  | "help";

export const SHORTCUTS: { keys: string; action: Shortcut; text: string }[] = [
  { keys: "/", action: "search", text: "Search the runs" },
  { keys: "n", action: "start", text: "Ask a question" },
  { keys: "g r", action: "runs", text: "Go to the runs" },
  { keys: "g f", action: "figures", text: "Go to usage" },
  { keys: "j", action: "next", text: "Next run in the list" },
  { keys: "k", action: "previous", text: "Previous run in the list" },
  { keys: "s", action: "star", text: "Star the run, or remove its star" },
  { keys: "t", action: "rename", text: "Rename the run" },
  { keys: "e", action: "archive", text: "Archive the run, or return it to the list" },
  { keys: "u", action: "undo", text: "Undo archiving" },
  { keys: "?", action: "help", text: "Show these keys" },
];

/** Returns the action of the next key after `before`, or the pending sequence. */
export function readKey(before: string, key: string): { action?: Shortcut; pending: string } {
  const typed = before === "" ? key : `${before} ${key}`;
  const found = SHORTCUTS.find(({ keys }) => keys === typed);
  if (found !== undefined) return { action: found.action, pending: "" };
  if (SHORTCUTS.some(({ keys }) => keys.startsWith(`${typed} `))) return { pending: typed };
  // A key that does not continue the sequence may start another.
  return before === "" ? { pending: "" } : readKey("", key);
}

const OFF = "shortcuts-off";

/** Speech input types letters by accident, so shortcuts can be turned off (WCAG 2.1.4). */
export const shortcutsAreOn = (): boolean => readStored("localStorage", OFF) === undefined;

export const switchShortcuts = (on: boolean): void => writeStored("localStorage", OFF, on ? undefined : "1");

const PENDING_MS = 1_500;

export function useShortcuts(showHelp: () => void): void {
  useEffect(() => {
    let pending = "";
    let at = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isBusy(event.target)) return;
      if (!shortcutsAreOn()) return;
      const read = readKey(event.timeStamp - at < PENDING_MS ? pending : "", event.key);
      ({ pending } = read);
      at = event.timeStamp;
      if (read.action === undefined) return;
      event.preventDefault();
      act(read.action, showHelp);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

const isBusy = (target: EventTarget | null): boolean =>
  document.querySelector("dialog[open]") !== null ||
  (target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select")));

function act(shortcut: Shortcut, showHelp: () => void): void {
  if (shortcut === "help") showHelp();
  else if (shortcut === "start") go("/start");
  else if (shortcut === "runs") go("/");
  else if (shortcut === "figures") go("/figures");
  else if (shortcut === "search") search();
  else if (shortcut === "next") step(1);
  else if (shortcut === "previous") step(-1);
  else pressButton(shortcut);
}

/** The attribute of a button that a shortcut presses. */
export const SHORTCUT_BUTTON = "data-shortcut";

/** For the run that is open, or the one of the list that has the focus; a run to be returned is in neither. */
function pressButton(shortcut: Shortcut): void {
  const run = document.activeElement?.closest("tr[data-status]") ?? document.querySelector("article.run");
  const scope = shortcut === "undo" ? document : run;
  scope?.querySelector<HTMLElement>(`[${SHORTCUT_BUTTON}=${shortcut}]`)?.click();
}

export const SEARCH = "search";
export const RUN_LINK = "run-link";

function search(): void {
  const box = document.querySelector<HTMLInputElement>(`#${SEARCH}`);
  if (box !== null) box.select();
  // The search field exists only in the list.
  else go(`/#${SEARCH}`);
}

function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(`.${RUN_LINK}`)];
  const here = links.findIndex((link) => link === document.activeElement);
  const next = links[here === -1 ? 0 : here + by];
  next?.focus({ preventScroll: true });
  next?.closest("tr")?.scrollIntoView({ block: "nearest" });
}
