/** Loads a run and its timeline and keeps them current: live events, and a reload after each interruption. */

import { useEffect, useRef, useState } from "preact/hooks";
import { activityCounts } from "../../../runs/activity/time-left.ts";
import type { RunLive, TimelineEntry } from "../../../operations/view/run-view.ts";
import type { LiveEvents, Timeline } from "../../wire.ts";
import { fetchJson } from "../app/request.ts";
import { useLive } from "../live/live.ts";
import { STATUS_LABELS } from "../../../runs/run.ts";
import { announce } from "../ui/parts.tsx";
import { mergeEntries } from "./timeline.tsx";

export interface LoadedRun {
  run: RunLive;
  timeline: Timeline;
}

export async function loadRun(taskId: string, signal?: AbortSignal): Promise<LoadedRun> {
  const init = signal === undefined ? {} : { signal };
  // The timeline first: later entries arrive live.
  const timeline = await fetchJson<Timeline>(`/api/runs/${taskId}/timeline`, init);
  return { run: await fetchJson<RunLive>(`/api/runs/${taskId}`, init), timeline };
}

interface WatchedRun {
  run: RunLive;
  entries: TimelineEntry[];
  /** Call it after an action on the run. */
  reload: () => void;
}

export function useWatchedRun(first: LoadedRun): WatchedRun {
  const [run, setRun] = useState(first.run);
  const [entries, setEntries] = useState(first.timeline.entries);
  const hasConnected = useRef(false);
  const updates = useRef(0);
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
    run: (next: RunLive) => {
      updates.current += 1;
      setRun(next);
    },
    // Marks change without a change of the run.
    runs: ({ runs }: LiveEvents["runs"]) => {
      const line = runs.find(({ task_id }) => task_id === taskId);
      if (line === undefined) return;
      const { title, tags, starred, archived } = line;
      setRun((current) => ({ ...current, title, tags, starred, archived }));
    },
    timeline: (entry: TimelineEntry) => setEntries((current) => mergeEntries(current, [entry])),
  };
  useLive(handlers, { taskId, after: first.timeline.last_seq });
  useStatusAnnouncement(run);
  usePhaseAnnouncement(run);
  return { run, entries, reload };
}

function useStatusAnnouncement({ status }: RunLive): void {
  const last = useRef(status);
  useEffect(() => {
    if (last.current !== status) announce(`The run is now: ${STATUS_LABELS[status]}.`);
    last.current = status;
  }, [status]);
}

/** Phases may change every few seconds, which would keep a screen reader busy. */
const ANNOUNCE_INTERVAL_MS = 15_000;

/** Announces phases, with what was found by then, and not every search or site. */
function usePhaseAnnouncement({ activity }: RunLive): void {
  const announced = useRef({ phase: activity?.phase, at: 0 });
  const latest = useRef(activity);
  latest.current = activity;
  const phase = activity?.phase;
  useEffect(() => {
    if (phase === undefined || phase === announced.current.phase) return undefined;
    const wait = Math.max(0, announced.current.at + ANNOUNCE_INTERVAL_MS - Date.now());
    const timer = setTimeout(() => {
      announced.current = { phase, at: Date.now() };
      const counts = latest.current && activityCounts(latest.current);
      announce(counts === undefined ? `${phase}.` : `${phase}: ${counts.replace(" · ", ", ")}.`);
    }, wait);
    return () => clearTimeout(timer);
  }, [phase]);
}
