/** The dialog that renames a run. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { RunHead } from "../../../operations/view/run-view.ts";
import { ConfirmDialog } from "../run/actions-dialogs.tsx";
import { nameOf } from "./organize.ts";

/** The same limit as on the server. */
const MAX_TITLE_CHARACTERS = 200;
const MAX_SHOWN_CHARACTERS = 400;

interface RenameDialogProps {
  run: RunHead;
  state: { isPending: boolean; error: unknown };
  close: () => void;
  rename: (title: string) => void;
}

export function RenameDialog({ run, state, close, rename }: RenameDialogProps) {
  // One line, as the field and the server make it.
  const name = nameOf(run).replaceAll(/\s+/g, " ").trim();
  const [typed, setTyped] = useState(name.length <= MAX_TITLE_CHARACTERS ? name : "");
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => field.current?.select(), []);
  return (
    <ConfirmDialog
      title="Rename this run"
      explanation={`Question: ${run.query.slice(0, MAX_SHOWN_CHARACTERS)}`}
      {...state}
      close={close}
      submit={{ name: "Save", pendingName: "Saving…", danger: false }}
      no="Cancel"
      onSubmit={() => rename(typed)}
    >
      <div class="stack tight">
        <label for={id}>Title (leave empty to show the question)</label>
        <input
          id={id}
          ref={field}
          dir="auto"
          value={typed}
          maxLength={MAX_TITLE_CHARACTERS}
          autocomplete="off"
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
    </ConfirmDialog>
  );
}
