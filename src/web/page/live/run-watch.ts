/** Loads a run and its timeline and keeps them current: live events, and a reload after each interruption. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveEvents, RunDetail, Timeline, TimelineEntry } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "./live.ts";
import { announce, statusLabel } from "../ui/parts.tsx";
import { withMarks } from "../library/organize.ts";
import { announcementOf, mergeEntries } from "./timeline.ts";

export interface LoadedRun {
  run: RunDetail;
  timeline: Timeline;
}

export async function loadRun(taskId: string, signal?: AbortSignal): Promise<LoadedRun> {
  const init = signal === undefined ? {} : { signal };
  // The timeline first: later entries arrive live.
  const timeline = await fetchJson<Timeline>(`/api/runs/${taskId}/timeline`, init);
  return { run: await fetchJson<RunDetail>(`/api/runs/${taskId}`, init), timeline };
}

interface WatchedRun {
  run: RunDetail;
  entries: TimelineEntry[];
  /** Call it after an action on the run. */
  reload: () => void;
}

export function useWatchedRun(first: LoadedRun): WatchedRun {
  const [run, setRun] = useState(first.run);
  const [entries, setEntries] = useState(first.timeline.entries);
  const hasConnected = useRef(false);
  const updates = useRef(0);
  const announceEntry = useAnnouncements();
  /** Entries that were announced; a new stream repeats earlier ones. */
  const known = useRef(new Set(first.timeline.entries.map(({ id }) => id)));
  const taskId = first.run.task_id;

  const reload = (): void => {
    const before = updates.current;
    loadRun(taskId).then(
      (loaded) => {
        setEntries((current) => mergeEntries(current, loaded.timeline.entries));
        // A live update that arrived meanwhile is newer than this response.
        if (updates.current === before) setRun(loaded.run);
      },
      // Still unreachable: the next `hello` triggers another reload.
      () => undefined,
    );
  };
  const handlers = {
    hello: () => {
      if (hasConnected.current) reload();
      hasConnected.current = true;
    },
    run: (next: RunDetail) => {
      updates.current += 1;
      setRun(next);
    },
    // Progress advances between two changes of a run, and marks change without any.
    runs: ({ runs }: LiveEvents["runs"]) => {
      const line = runs.find(({ task_id }) => task_id === taskId);
      if (line === undefined) return;
      setRun((current) => {
        const isFurther = current.status === line.status && line.progress > current.progress;
        return { ...withMarks(current, line), ...(isFurther ? { progress: line.progress } : {}) };
      });
    },
    timeline: (entry: TimelineEntry) => {
      setEntries((current) => mergeEntries(current, [entry]));
      if (entry.kind !== "state" && !known.current.has(entry.id)) announceEntry(entry);
      known.current.add(entry.id);
    },
  };
  useLive(handlers, { taskId, after: first.timeline.last_seq });
  useStatusAnnouncement(run);
  return { run, entries, reload };
}

function useStatusAnnouncement({ status }: RunDetail): void {
  const last = useRef(status);
  useEffect(() => {
    if (last.current !== status) announce(`The run is now: ${statusLabel(status)}.`);
    last.current = status;
  }, [status]);
}

/** A run can produce several thoughts per second, which would keep a screen reader busy. */
const ANNOUNCE_INTERVAL_MS = 15_000;

function useAnnouncements(): (entry: TimelineEntry) => void {
  const waiting = useRef<TimelineEntry[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const speak = (): void => {
    const text = announcementOf(waiting.current);
    waiting.current = [];
    timer.current = text === undefined ? undefined : setTimeout(speak, ANNOUNCE_INTERVAL_MS);
    if (text !== undefined) announce(text);
  };
  return (entry) => {
    waiting.current.push(entry);
    if (timer.current === undefined) speak();
  };
}
