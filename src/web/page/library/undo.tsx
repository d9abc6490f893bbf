/** Offers to return a run that was just archived to the list: it stays until it is used, dismissed or old. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunSummary } from "../../wire.ts";
import { runPath } from "../app/router.ts";
import { RUN_LINK, SHORTCUT_BUTTON } from "../app/shortcuts.ts";
import { announce, Problem } from "../ui/parts.tsx";
import { nameOf, organize } from "./organize.ts";

const OFFERED_MS = 20_000;

let show: (run: RunSummary | undefined) => void = () => {};

/** Undefined withdraws the offer, for example because the run was returned to the list in another way. */
export const offerUndo = (run: RunSummary | undefined): void => show(run);

export function UndoArchive() {
  const [run, setRun] = useState<RunSummary>();
  const [error, setError] = useState<unknown>(undefined);
  const bar = useRef<HTMLElement>(null);
  show = (archived) => {
    setRun(archived);
    setError(undefined);
  };
  useEffect(() => {
    if (run === undefined) return undefined;
    const timer = setInterval(() => {
      if (bar.current?.matches(":hover, :focus-within") === false) setRun(undefined);
    }, OFFERED_MS);
    return () => clearInterval(timer);
  }, [run]);
  if (run === undefined) return null;
  const undo = async (): Promise<void> => {
    try {
      await organize(run.task_id, { archived: false });
    } catch (refusal) {
      return setError(refusal);
    }
    setRun(undefined);
    announce("Returned to the list.");
    focusInList(run.task_id);
  };
  return (
    <aside ref={bar} class="undo" aria-label="Undo">
      <p>
        Archived <strong>{nameOf(run)}</strong>
      </p>
      <button type="button" class="button" {...{ [SHORTCUT_BUTTON]: "undo" }} onClick={() => void undo()}>
        Undo
      </button>
      <button type="button" class="button plain" onClick={() => setRun(undefined)}>
        Dismiss
      </button>
      {error === undefined ? null : <Problem error={error} />}
    </aside>
  );
}

const RETRY_MS = 100;
const MAX_ATTEMPTS = 20;

/** The button had the focus and is about to be removed. The run returns with the next response of the server. */
function focusInList(taskId: string, attempt = 1): void {
  const focused = document.activeElement;
  const isFree = focused === null || focused === document.body || focused.closest(".undo") !== null;
  if (!isFree || attempt > MAX_ATTEMPTS) return;
  const link = document.querySelector<HTMLElement>(`.${RUN_LINK}[href="${runPath(taskId)}"]`);
  if (link === null) setTimeout(() => focusInList(taskId, attempt + 1), RETRY_MS);
  else link.focus({ preventScroll: true });
}
