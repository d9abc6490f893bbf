/** Keyboard shortcuts, active everywhere except in text fields, and the dialog that lists them and can disable them. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Check } from "../ui/check.tsx";
import { writeStored, readStored } from "./browser-storage.ts";
import { go } from "./router.ts";

const SHORTCUTS = [
  { key: "/", text: "Search the runs" },
  { key: "n", text: "Ask a question" },
  { key: "?", text: "Show these keys" },
];

const OFF = "shortcuts-off";

/** Speech input types letters by accident, so shortcuts can be turned off (WCAG 2.1.4). */
const shortcutsAreOn = (): boolean => readStored("localStorage", OFF) === undefined;

const switchShortcuts = (on: boolean): void => writeStored("localStorage", OFF, on ? undefined : "1");

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

export function HelpDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = useRef<HTMLButtonElement>(null);
  const [on, setOn] = useState(shortcutsAreOn);
  useEffect(() => {
    dialog.current?.showModal();
    close.current?.focus();
  }, []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose}>
      <div class="stack">
        <h2 id="help-title">Keyboard shortcuts</h2>
        <dl class="keys">
          {SHORTCUTS.map(({ key, text }) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <Check
          checked={on}
          onChange={(checked) => {
            setOn(checked);
            switchShortcuts(checked);
          }}
        >
          Enable keyboard shortcuts (they are ignored while you type in a field)
        </Check>
        <p class="quiet small">
          In a terminal: <code>gemini-search-mcp --help</code>
        </p>
        <form method="dialog" class="row">
          <button type="submit" class="button primary" ref={close}>
            Close
          </button>
        </form>
      </div>
    </dialog>
  );
}
