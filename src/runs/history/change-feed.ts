/** Change feed of an owner's runs across all processes; reads the database only while there are listeners. */

import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { maxWriteDelayMs } from "../../store/dialect.ts";
import type { RunNotifications } from "../../store/postgres/run-notifications.ts";
import type { WrittenRun } from "./change-feed-store.ts";

/** Without notifications from the database. */
const POLL_INTERVAL_MS = 1_000;
/** With notifications: one may have been lost with a connection. */
const SAFETY_INTERVAL_MS = 20_000;
/** Changes in quick succession are read together. */
const MIN_BETWEEN_READS_MS = 300;

export interface RunWatch {
  database: () => Promise<Database>;
  notifications: () => Promise<RunNotifications | undefined>;
  clock: Pick<Clock, "now">;
  owner: string;
}

export interface RunChanges {
  /** Runs whose visible state has changed, with the other ids that stand for them. */
  runs: { taskId: string; otherIds: string[]; finished: boolean }[];
  /** Ids, all that stand for a run, whose row was written; their timeline may have grown. */
  written: string[];
  /** A run was created, has ended, or was renamed, starred or archived. */
  listChanged: boolean;
}

/** Calls `onChanges` with changes since the subscription, at most once per read. Returns an unsubscribe function. */
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
    // Read errors are reported by the calls that need the database; the feed retries.
    const changes = await reader.read(what).catch(() => undefined);
    reading = false;
    if (changes !== undefined && changes.written.length + changes.runs.length > 0 && !stopped) onChanges(changes);
    if (reader.isBehind()) schedule(MIN_BETWEEN_READS_MS);
    else schedule(changes !== undefined && notifications?.isLive() ? jitteredSafetyInterval() : POLL_INTERVAL_MS);
  };
  const begin = async (): Promise<void> => {
    notifications = await watch.notifications().catch(() => undefined);
    if (stopped) return;
    // Subscribe before the first read, so that no change in between is missed.
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

/** Jitter for listeners that subscribed at the same time, as after a restart. */
const jitteredSafetyInterval = (): number => SAFETY_INTERVAL_MS * (0.75 + Math.random() / 2);

/** Tracks the last reported state of each run, and the runs notified since the last read. */
function createReader({ database, clock, owner }: RunWatch) {
  const began = clock.now();
  let known: Known | undefined;
  let allReadAt = began;
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
      // Every server imports this file when it starts; few ever read.
      const { runsWrittenSince, writtenRuns } = await import("./change-feed-store.ts");
      const db = await database();
      // The minimum, because the clock may have been set back.
      const since = Math.min(allReadAt, now) - maxWriteDelayMs(db);
      const written = isAll
        ? await runsWrittenSince(db, owner, { since, known: unfinished() })
        : await writtenRuns(db, owner, taskIds);
      // Writes from before the subscription are not reported.
      known ??= remember(
        new Map(),
        written.filter(({ updatedAt }) => updatedAt < began),
      );
      const changes = diffChanges(known, written, since);
      known = remember(known, written);
      if (isAll) allReadAt = now;
      return changes;
    },
  };
}

type Known = ReadonlyMap<string, WrittenRun>;

/** Keeps unfinished runs indefinitely, and finished ones as long as reads return them. */
const remember = (known: Known, written: WrittenRun[]): Known =>
  new Map([
    ...[...known].filter(([, run]) => !run.finished),
    ...written.map((run): [string, WrittenRun] => [run.taskId, run]),
  ]);

function diffChanges(known: Known, written: WrittenRun[], from: number): RunChanges {
  const hasOtherMarks = ({ taskId, marks }: WrittenRun): boolean =>
    known.has(taskId) && known.get(taskId)?.marks !== marks;
  const changed = written.filter((run) => known.get(run.taskId)?.shown !== run.shown || hasOtherMarks(run));
  const isWritten = ({ taskId, updatedAt }: WrittenRun): boolean => known.get(taskId)?.updatedAt !== updatedAt;
  return {
    written: written.filter(isWritten).flatMap(({ taskId, otherIds }) => [taskId, ...otherIds]),
    runs: changed.map(({ taskId, otherIds, finished }) => ({ taskId, otherIds, finished })),
    // A run created before the read window that is seen for the first time was in the list already.
    listChanged: changed.some(
      (run) => run.finished || hasOtherMarks(run) || (!known.has(run.taskId) && run.createdAt >= from),
    ),
  };
}

type OnChanges = (changes: RunChanges) => void;

interface SharedWatch {
  listeners: Set<{ onChanges: OnChanges }>;
  stop: () => void;
}

/** Keyed by database, then by owner; owners without subscribers have no entry. */
const watches = new WeakMap<RunWatch["database"], Map<string, SharedWatch>>();

/** Calls `onChanges` with changes since the subscription. Returns an unsubscribe function. */
export function subscribeToRuns(watch: RunWatch, onChanges: OnChanges): () => void {
  const owners = watches.get(watch.database) ?? new Map<string, SharedWatch>();
  watches.set(watch.database, owners);
  const shared = owners.get(watch.owner) ?? startSharedWatch(watch);
  owners.set(watch.owner, shared);
  const listener = { onChanges };
  shared.listeners.add(listener);
  return () => {
    if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
    shared.stop();
    owners.delete(watch.owner);
  };
}

function startSharedWatch(watch: RunWatch): SharedWatch {
  const listeners = new Set<{ onChanges: OnChanges }>();
  const stop = watchRuns(watch, (changes) => {
    for (const { onChanges } of listeners) onChanges(changes);
  });
  return { listeners, stop };
}
