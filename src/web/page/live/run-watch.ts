/** A run and its timeline, kept as the server has them: looked at once, heard live, looked at again after a break. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveEvents, RunDetail, Timeline, TimelineEntry } from "../../wire.ts";
import { ask } from "../app/request.ts";
import { useLive } from "./live.ts";
import { announce, statusWord } from "../ui/parts.tsx";
import { announcementOf, mergeEntries } from "./timeline.ts";

export interface Looked {
  run: RunDetail;
  timeline: Timeline;
}

export async function lookAt(taskId: string, signal?: AbortSignal): Promise<Looked> {
  const init = signal === undefined ? {} : { signal };
  // The timeline first: what happens in between comes live, after its last entry.
  const timeline = await ask<Timeline>(`/api/runs/${taskId}/timeline`, init);
  return { run: await ask<RunDetail>(`/api/runs/${taskId}`, init), timeline };
}

interface Watching {
  run: RunDetail;
  entries: TimelineEntry[];
  /** To be called after something was done about the run. */
  lookAgain: () => void;
}

export function useWatchedRun(first: Looked): Watching {
  const [run, setRun] = useState(first.run);
  const [entries, setEntries] = useState(first.timeline.entries);
  const greeted = useRef(false);
  const heard = useRef(0);
  const say = useAnnouncements();
  /** What was told before is told again with every new stream, and is no news then. */
  const known = useRef(new Set(first.timeline.entries.map(({ id }) => id)));
  const taskId = first.run.task_id;

  const lookAgain = (): void => {
    const before = heard.current;
    lookAt(taskId).then(
      (looked) => {
        setEntries((known) => mergeEntries(known, looked.timeline.entries));
        // What was heard meanwhile is newer than what was asked for before.
        if (heard.current === before) setRun(looked.run);
      },
      // Away again: its next greeting brings the next look.
      () => undefined,
    );
  };
  const handlers = {
    hello: () => {
      if (greeted.current) lookAgain();
      greeted.current = true;
    },
    run: (coming: RunDetail) => {
      heard.current += 1;
      setRun(coming);
    },
    // Between two changes of a run its progress moves with time.
    runs: ({ runs }: LiveEvents["runs"]) => {
      const line = runs.find(({ task_id }) => task_id === taskId);
      if (line === undefined) return;
      setRun((known) =>
        known.status === line.status && line.progress > known.progress ? { ...known, progress: line.progress } : known,
      );
    },
    timeline: (entry: TimelineEntry) => {
      setEntries((known) => mergeEntries(known, [entry]));
      if (entry.kind !== "state" && !known.current.has(entry.id)) say(entry);
      known.current.add(entry.id);
    },
  };
  useLive(handlers, { taskId, after: first.timeline.last_seq });
  useStatusAnnouncement(run);
  return { run, entries, lookAgain };
}

function useStatusAnnouncement({ status }: RunDetail): void {
  const last = useRef(status);
  useEffect(() => {
    if (last.current !== status) announce(`The run is now: ${statusWord(status)}.`);
    last.current = status;
  }, [status]);
}

/** A run can think several times a second; whoever hears the page must still be able to hear something else. */
const QUIET_MS = 15_000;

function useAnnouncements(): (entry: TimelineEntry) => void {
  const waiting = useRef<TimelineEntry[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const speak = (): void => {
    const text = announcementOf(waiting.current);
    waiting.current = [];
    timer.current = text === undefined ? undefined : setTimeout(speak, QUIET_MS);
    if (text !== undefined) announce(text);
  };
  return (entry) => {
    waiting.current.push(entry);
    if (timer.current === undefined) speak();
  };
}
