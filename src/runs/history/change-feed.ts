/** The change feed of an owner's runs, whichever process works on them: reads the store only while there are listeners. */

import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { maxWriteDelayMs } from "../../store/dialect.ts";
import type { RunNotifications } from "../../store/postgres/run-notifications.ts";
import { runsWrittenSince, type WrittenRun, writtenRuns } from "./change-feed-store.ts";

/** Where the database sends no notifications. */
const POLL_INTERVAL_MS = 1_000;
/** Where it does: one may have been lost with a connection. */
const SAFETY_INTERVAL_MS = 20_000;
/** The progress of a run moves with time, without any write. */
const PROGRESS_INTERVAL_MS = 15_000;
/** Changes that come in quick succession are read together. */
const MIN_BETWEEN_READS_MS = 300;

export interface RunWatch {
  database: () => Promise<Database>;
  notifications: () => Promise<RunNotifications | undefined>;
  clock: Pick<Clock, "now">;
  owner: string;
}

export interface RunChanges {
  /** Runs whose readers would see something else. */
  runs: { taskId: string; finished: boolean }[];
  /** Runs that were written at all; their timeline may have grown. */
  written: string[];
  /** A run is new, or has ended. */
  listChanged: boolean;
}

/** Calls back with what has changed since the call, at most once per read; the returned function ends it. */
export function watchRuns(watch: RunWatch, onChanges: (changes: RunChanges) => void): () => void {
  const reader = createReader(watch);
  let stopped = false;
  let reading = false;
  let timer: NodeJS.Timeout | undefined;
  let notifications: RunNotifications | undefined;
  let unsubscribe: (() => void) | undefined;
  const schedule = (ms: number): void => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void read(ms > MIN_BETWEEN_READS_MS ? "all" : "notified"), ms).unref();
  };
  const read = async (what: "all" | "notified"): Promise<void> => {
    reading = true;
    // A store that cannot be read shows in the next call that needs it.
    const changes = await reader.read(what).catch(() => undefined);
    reading = false;
    if (changes !== undefined && changes.written.length + changes.runs.length > 0 && !stopped) onChanges(changes);
    if (reader.isBehind()) schedule(MIN_BETWEEN_READS_MS);
    else schedule(changes !== undefined && notifications?.isLive() ? safetyInterval() : POLL_INTERVAL_MS);
  };
  const begin = async (): Promise<void> => {
    notifications = await watch.notifications().catch(() => undefined);
    if (stopped) return;
    // Before the first read: what changes meanwhile is read after it.
    unsubscribe = notifications?.subscribe(watch.owner, (taskId) => {
      const isScheduled = reader.isBehind();
      reader.changed(taskId);
      if (!isScheduled && !reading) schedule(MIN_BETWEEN_READS_MS);
    });
    await read("all");
  };
  void begin();
  return () => {
    stopped = true;
    clearTimeout(timer);
    unsubscribe?.();
  };
}

/** Listeners that came at the same moment, as after a restart, do not read at the same moment for ever. */
const safetyInterval = (): number => SAFETY_INTERVAL_MS * (0.75 + Math.random() / 2);

/** Remembers what listeners were shown, and which runs were changed since they were read. */
function createReader({ database, clock, owner }: RunWatch) {
  const began = clock.now();
  let known: Known | undefined;
  let allReadAt = began;
  let progressReadAt = -Infinity;
  let allChanged = false;
  let changed = new Set<string>();
  const unfinished = (): string[] => [...(known?.values() ?? [])].flatMap((run) => (run.finished ? [] : [run.taskId]));
  return {
    changed: (taskId: string | undefined): void => {
      if (taskId === undefined) allChanged = true;
      else changed.add(taskId);
    },
    isBehind: (): boolean => allChanged || changed.size > 0,
    read: async (what: "all" | "notified"): Promise<RunChanges> => {
      const now = clock.now();
      const isAll = what === "all" || allChanged;
      const taskIds = [...changed];
      allChanged = false;
      changed = new Set();
      const db = await database();
      // The earlier of both: the clock may have been set back.
      const since = Math.min(allReadAt, now) - maxWriteDelayMs(db);
      const withUnfinished = Math.abs(now - progressReadAt) >= PROGRESS_INTERVAL_MS;
      const written = isAll
        ? await runsWrittenSince(db, owner, { since, withUnfinished, known: unfinished() })
        : await writtenRuns(db, owner, taskIds);
      // What was written before there was a listener is no news.
      known ??= remember(
        new Map(),
        written.filter(({ updatedAt }) => updatedAt < began),
      );
      const changes = changesOf(known, written, since);
      known = remember(known, written);
      if (isAll) allReadAt = now;
      if (isAll && withUnfinished) progressReadAt = now;
      return changes;
    },
  };
}

type Known = ReadonlyMap<string, WrittenRun>;

/** Unfinished runs are remembered however long they are silent, finished ones while a read still returns them. */
const remember = (known: Known, written: WrittenRun[]): Known =>
  new Map([
    ...[...known].filter(([, run]) => !run.finished),
    ...written.map((run): [string, WrittenRun] => [run.taskId, run]),
  ]);

function changesOf(known: Known, written: WrittenRun[], from: number): RunChanges {
  const changed = written.filter(({ taskId, shown }) => known.get(taskId)?.shown !== shown);
  const isWritten = ({ taskId, updatedAt }: WrittenRun): boolean => known.get(taskId)?.updatedAt !== updatedAt;
  return {
    written: written.filter(isWritten).map(({ taskId }) => taskId),
    runs: changed.map(({ taskId, finished }) => ({ taskId, finished })),
    // One that is older than the read, and first seen now, was in the list before.
    listChanged: changed.some((run) => run.finished || (!known.has(run.taskId) && run.createdAt >= from)),
  };
}
