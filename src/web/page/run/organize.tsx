/** Renames, stars and archives runs: with names on the page of a run, as icons in the list. */

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

interface OrganizeButtonsProps {
  run: RunHead;
  /** In the list: icons, whose names include that of the run. */
  compact?: boolean;
}

export function OrganizeButtons({ run, compact = false }: OrganizeButtonsProps) {
  const { pending, error, send } = useSending<"organize">();
  const act = (marks: Marks): Promise<boolean> => send("organize", () => organize(run.task_id, marks));
  const [isRenaming, setRenaming] = useState(false);
  const group = useRef<HTMLDivElement>(null);
  const rename = async (title: string): Promise<void> => {
    if (!(await act({ title }))) return;
    // Closing it restores the focus, which removing it would not.
    group.current?.querySelector("dialog")?.close();
    announce("Renamed.");
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
  const labelled = { compact, disabled: pending !== undefined, of: nameOf(run) };
  return (
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
        name={compact ? "Rename" : "Rename…"}
        shape={PENCIL}
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
      {isRenaming ? (
        <RenameDialog
          run={run}
          state={{ isPending: pending !== undefined, error }}
          close={() => setRenaming(false)}
          rename={(title) => void rename(title)}
        />
      ) : null}
    </div>
  );
}

interface OrganizeButtonProps {
  name: string;
  shape: string;
  compact: boolean;
  disabled: boolean;
  /** What the run is called. */
  of: string;
  pressed?: boolean;
  press: () => void;
}

function OrganizeButton({ name, shape, compact, disabled, of, pressed, press }: OrganizeButtonProps) {
  return (
    <button
      type="button"
      class={compact ? "icon" : "button"}
      aria-pressed={pressed}
      aria-label={compact ? `${name}: ${of.slice(0, 100)}` : undefined}
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

/** The same limit as on the server. */
const MAX_TITLE_CHARACTERS = 200;
const MAX_SHOWN_CHARACTERS = 400;

interface RenameDialogProps {
  run: RunHead;
  state: { isPending: boolean; error: unknown };
  close: () => void;
  rename: (title: string) => void;
}

function RenameDialog({ run, state, close, rename }: RenameDialogProps) {
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

interface Marks {
  title?: string;
  starred?: boolean;
  archived?: boolean;
}

/** Other pages receive the change with their event stream; this one need not wait for it. */
export async function organize(taskId: string, marks: Marks): Promise<void> {
  const run = await postJson<RunHead>(`/api/runs/${taskId}/organize`, { ...marks });
  receive("runs", { runs: [run], list_changed: true });
}
