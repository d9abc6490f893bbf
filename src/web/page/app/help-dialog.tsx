/** The dialog that lists the keyboard shortcuts and can disable them. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Check } from "../ui/check.tsx";
import { SHORTCUTS, shortcutsAreOn, switchShortcuts } from "./shortcuts.ts";

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
