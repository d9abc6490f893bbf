/** The checks of a report's citations: read with the report, and made a few sources at a time when the user asks. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { CitationsView } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { announce, useLoad } from "../ui/parts.tsx";

/** Few enough that something new is shown every few seconds. */
const SOURCES_PER_REQUEST = 4;

export interface CitationChecks {
  /** Undefined until it is read, and where it cannot be read. */
  view: CitationsView | undefined;
  /** The sources that are being checked. */
  running: { done: number; of: number } | undefined;
  error: unknown;
  /** Fetches the cited pages; again: also those that were checked within a day. */
  check: (how: { isAgain: boolean }) => void;
  stop: () => void;
}

export function useCitationChecks(taskId: string): CitationChecks {
  const [running, setRunning] = useState<CitationChecks["running"]>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const work = useRef<AbortController | undefined>(undefined);
  const path = `/api/runs/${taskId}/citations`;
  // Without it the report is as readable as before, so that an error is not shown.
  const { value: view, update } = useLoad(path, (signal) => fetchJson<CitationsView>(path, { signal }));
  const setView = (checked: CitationsView): void => update(() => checked);
  useEffect(() => () => work.current?.abort(), [path]);
  const check: CitationChecks["check"] = ({ isAgain }) => {
    if (view === undefined || work.current !== undefined) return;
    const wanted = view.sources.filter(({ is_cited }) => is_cited).map(({ n }) => n);
    const mine = new AbortController();
    work.current = mine;
    setError(undefined);
    const progress = (done: number): void => setRunning({ done, of: wanted.length });
    progress(0);
    checkAll(path, { wanted, isAgain, signal: mine.signal, progress, setView })
      .then(
        () => announce("The citations are checked."),
        (failure: unknown) => mine.signal.aborted || setError(failure),
      )
      .finally(() => {
        work.current = undefined;
        setRunning(undefined);
      });
  };
  return { view, running, error, check, stop: () => work.current?.abort() };
}

interface Checking {
  wanted: readonly number[];
  isAgain: boolean;
  signal: AbortSignal;
  progress: (done: number) => void;
  setView: (view: CitationsView) => void;
}

async function checkAll(path: string, checking: Checking): Promise<void> {
  const { wanted, isAgain, signal, progress, setView } = checking;
  for (let at = 0; at < wanted.length; at += SOURCES_PER_REQUEST) {
    signal.throwIfAborted();
    const numbers = wanted.slice(at, at + SOURCES_PER_REQUEST);
    const view = await fetchJson<CitationsView>(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ numbers, refetch: isAgain }),
      signal,
    });
    setView(view);
    progress(Math.min(wanted.length, at + SOURCES_PER_REQUEST));
  }
}
