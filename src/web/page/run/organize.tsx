/** Renames, tags, annotates, stars and archives runs: with names on the page of a run, as icons in the list. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { RunHead } from "../../../operations/view/run-view.ts";
import { ConfirmDialog, useSending } from "../ui/forms.tsx";
import { hasEnded, nameOf } from "../ui/format.ts";
import { announce, Problem } from "../ui/parts.tsx";
import { postJson } from "../app/request.ts";
import { receive } from "../live/live.ts";

/** SVG paths in a 16 by 16 box. */
const STAR = "m8 1.8 1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z";
const PENCIL = "m10.5 3 2.5 2.5L5.5 13 2.6 13.4 3 10.5zM9 4.5 11.5 7";
const BOX = "M2 3h12v3H2zM3 6v7h10V6M6.2 8.5h3.6";
const BOX_OPEN = "M2 3h12v3H2zM3 6v7h10V6M8 11.5V8M6.3 9.5 8 7.8l1.7 1.7";

interface Organizing {
  buttons: ComponentChildren;
  /** Rendered outside of a menu that has the buttons. */
  dialog: ComponentChildren;
}

interface Look {
  /** Icons without words. */
  compact: boolean;
  /** The names of the buttons include that of the run. */
  isNamed: boolean;
}

export function useOrganize(run: RunHead, { compact, isNamed }: Look): Organizing {
  const { pending, error, send } = useSending<"organize">();
  const act = (marks: Marks): Promise<boolean> => send("organize", () => organize(run.task_id, marks));
  const [isRenaming, setRenaming] = useState(false);
  const group = useRef<HTMLDivElement>(null);
  const dialog = useRef<HTMLDivElement>(null);
  const rename = async (marks: Marks): Promise<void> => {
    if (!(await act(marks))) return;
    // Closing it restores the focus, which removing it would not.
    dialog.current?.querySelector("dialog")?.close();
    announce("Saved.");
  };
  const archive = async (): Promise<void> => {
    const archived = run.archived !== true;
    // The row is about to leave the list, and the focus with it.
    const row = group.current?.closest("tr");
    const neighbour = (row?.nextElementSibling ?? row?.previousElementSibling)?.querySelector<HTMLElement>(".run-link");
    const hadFocus = row?.contains(document.activeElement) === true;
    if (!(await act({ archived }))) return;
    if (hadFocus) neighbour?.focus({ preventScroll: true });
    announce(archived ? "Archived." : "Returned to the list.");
  };
  const labelled = { compact, disabled: pending !== undefined, of: isNamed ? nameOf(run) : undefined };
  const buttons = (
    <div ref={group} class="row organize">
      <OrganizeButton
        {...labelled}
        name="Star"
        shape={STAR}
        pressed={run.starred === true}
        press={() => void act({ starred: run.starred !== true })}
      />
      <OrganizeButton
        {...labelled}
        name={compact ? "Title, tags and note" : "Title, tags and note…"}
        shape={PENCIL}
        opensDialog
        press={() => setRenaming(true)}
      />
      {!hasEnded(run.status) ? null : (
        <OrganizeButton
          {...labelled}
          name={run.archived === true ? "Unarchive" : "Archive"}
          shape={run.archived === true ? BOX_OPEN : BOX}
          press={() => void archive()}
        />
      )}
      {error === undefined || isRenaming ? null : <Problem error={error} />}
    </div>
  );
  const shown = !isRenaming ? null : (
    <div ref={dialog} class="dialogs">
      <RenameDialog
        run={run}
        state={{ isPending: pending !== undefined, error }}
        close={() => setRenaming(false)}
        rename={(marks) => void rename(marks)}
      />
    </div>
  );
  return { buttons, dialog: shown };
}

interface OrganizeButtonProps {
  name: string;
  shape: string;
  compact: boolean;
  disabled: boolean;
  /** What the run is called, for the name of the button. */
  of: string | undefined;
  pressed?: boolean;
  opensDialog?: boolean;
  press: () => void;
}

function OrganizeButton({ name, shape, compact, disabled, of, ...button }: OrganizeButtonProps) {
  const { pressed, opensDialog = false, press } = button;
  return (
    <button
      type="button"
      class={compact ? "icon" : "button"}
      aria-pressed={pressed}
      aria-haspopup={opensDialog ? "dialog" : undefined}
      aria-label={of === undefined ? undefined : `${name.replace("…", "")}: ${of.slice(0, 100)}`}
      title={compact ? name : undefined}
      aria-disabled={disabled ? "true" : undefined}
      onClick={disabled ? undefined : press}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={shape} />
      </svg>
      {compact ? null : name}
    </button>
  );
}

/** The same limits as on the server. */
const MAX_TITLE_CHARACTERS = 200;
const MAX_NOTE_CHARACTERS = 5_000;
const MAX_SHOWN_CHARACTERS = 400;

interface RenameDialogProps {
  run: RunHead;
  state: { isPending: boolean; error: unknown };
  close: () => void;
  rename: (marks: Marks) => void;
}

function RenameDialog({ run, state, close, rename }: RenameDialogProps) {
  // One line, as the field and the server make it.
  const name = nameOf(run).replaceAll(/\s+/g, " ").trim();
  const [typed, setTyped] = useState(name.length <= MAX_TITLE_CHARACTERS ? name : "");
  const before = run.tags ?? [];
  const [tags, setTags] = useState(before.join(" "));
  const [note, setNote] = useState(run.note_of_user ?? "");
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => field.current?.select(), []);
  return (
    <ConfirmDialog
      title="Title, tags and note"
      explanation={`Question: ${run.query.slice(0, MAX_SHOWN_CHARACTERS)}`}
      {...state}
      close={close}
      submit={{ name: "Save", pendingName: "Saving…", danger: false }}
      no="Cancel"
      onSubmit={() => {
        const words = wordsIn(tags);
        rename({ title: typed, tag: words, untag: before.filter((tag) => !words.includes(tag)), note });
      }}
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
        <label for={`${id}-tags`}>Tags (words, with spaces between them)</label>
        <input
          id={`${id}-tags`}
          dir="auto"
          value={tags}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setTags(currentTarget.value)}
        />
        <label for={`${id}-note`}>Note (for you; searches find it)</label>
        <textarea
          id={`${id}-note`}
          dir="auto"
          rows={3}
          value={note}
          maxLength={MAX_NOTE_CHARACTERS}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </div>
    </ConfirmDialog>
  );
}

/** As the server reads them. */
const wordsIn = (typed: string): string[] =>
  typed.split(/[\s,]+/).flatMap((word) => word.replace(/^#+/, "").toLowerCase() || []);

interface Marks {
  title?: string;
  tag?: string[];
  untag?: string[];
  note?: string;
  starred?: boolean;
  archived?: boolean;
}

/** Other pages receive the change with their event stream; this one need not wait for it. */
export async function organize(taskId: string, marks: Marks): Promise<void> {
  const run = await postJson<RunHead>(`/api/runs/${taskId}/organize`, { ...marks });
  receive("runs", { runs: [run], list_changed: true });
}
