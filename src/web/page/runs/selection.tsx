/** Selecting several conversations, to archive, export or delete them together. */

import { useState } from "preact/hooks";
import type { RunHead } from "../../../operations/view/run-view.ts";
import type { Acted, ConversationView } from "../../wire.ts";
import { fetchJson, postJson } from "../app/request.ts";
import { saveFile } from "../ui/buttons.tsx";
import { ConfirmDialog, useSending } from "../ui/forms.tsx";
import { hasEnded, nameOf } from "../ui/format.ts";
import { announce, Problem } from "../ui/parts.tsx";
import { organize } from "../run/organize.tsx";
import { receive } from "../live/live.ts";
import type { Conversation } from "./list.ts";

export interface Selecting {
  /** The ids of the selected ones; undefined while nothing is being selected. */
  selected: ReadonlySet<string> | undefined;
  setSelected: (selected: ReadonlySet<string> | undefined) => void;
}

interface SelectionProps extends Selecting {
  shown: readonly Conversation[];
  selected: ReadonlySet<string>;
}

export function SelectionBar({ shown, selected, setSelected }: SelectionProps) {
  const { pending, error, send } = useSending<"archive" | "export" | "delete">();
  const [isAsking, setAsking] = useState(false);
  const chosen = shown.filter(({ first }) => selected.has(first.task_id)).map(({ first }) => first);
  const ended = chosen.filter(({ status }) => hasEnded(status));
  const isIdle = chosen.length > 0 && pending === undefined;
  const each = async (name: "archive" | "delete", runs: RunHead[], act: (run: RunHead) => Promise<unknown>) => {
    const isDone = await send(name, async () => {
      for (const run of runs) await act(run);
    });
    setAsking((before) => before && !isDone);
    if (isDone) setSelected(undefined);
    return isDone;
  };
  const exportChosen = async (): Promise<void> => {
    const ids = new URLSearchParams(chosen.map(({ task_id: id }) => ["id", id]));
    if (await send("export", () => saveFile(`/api/library.zip?${ids.toString()}`))) setSelected(undefined);
  };
  const remove = async (): Promise<void> => {
    const isDone = await each("delete", ended, deleteConversation);
    receive("runs", { runs: [], list_changed: true });
    if (isDone) announce("Deleted.");
  };
  return (
    <>
      <div class="row selection" role="group" aria-label="Selected">
        <span role="status">{chosen.length} selected</span>
        <button
          type="button"
          class="button small"
          onClick={() => setSelected(new Set(shown.map(({ first }) => first.task_id)))}
        >
          All {shown.length}
        </button>
        <button
          type="button"
          class="button small"
          disabled={!isIdle || ended.length === 0}
          onClick={() => void each("archive", ended, (run) => organize(run.task_id, { archived: true }))}
        >
          Archive
        </button>
        <button type="button" class="button small" disabled={!isIdle} onClick={() => void exportChosen()}>
          Export
        </button>
        <button
          type="button"
          class="button small danger"
          disabled={!isIdle || ended.length === 0}
          onClick={() => setAsking(true)}
        >
          Delete…
        </button>
        <button type="button" class="button small plain" onClick={() => setSelected(undefined)}>
          Done
        </button>
      </div>
      {isAsking ? null : <Problem error={error} />}
      {isAsking ? (
        <ConfirmDialog
          title={ended.length === 1 ? "Delete this research?" : `Delete these ${ended.length}?`}
          explanation="Questions, reports, follow-ups, tables and sources are permanently deleted here. Google's copies and saved files stay where they are."
          isPending={pending !== undefined}
          error={error}
          close={() => setAsking(false)}
          submit={{ name: "Delete for good", pendingName: "Deleting…", danger: true }}
          no="Keep them"
          onSubmit={() => void remove()}
        >
          <ul class="small chosen">
            {ended.map((run) => (
              <li key={run.task_id} dir="auto">
                {nameOf(run).slice(0, 120)}
              </li>
            ))}
          </ul>
          {ended.length === chosen.length ? null : (
            <p class="small">What is still in progress or waits for a decision is kept.</p>
          )}
        </ConfirmDialog>
      ) : null}
    </>
  );
}

/** With what continues it, the newest first: an interrupted deletion leaves no follow-up without its question. */
async function deleteConversation(first: RunHead): Promise<void> {
  const { later } = await fetchJson<ConversationView>(`/api/runs/${first.task_id}/conversation`);
  for (const run of [first, ...later].toReversed()) {
    const body = { delete_at_google: false, seen_status: run.status };
    await postJson<Acted>(`/api/runs/${run.task_id}/delete`, body);
  }
}
