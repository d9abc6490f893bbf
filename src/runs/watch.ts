/** The change feed of an owner's runs, whichever process works on them: looks at the store, only while somebody listens. */

import type { Clock } from "../platform/clock.ts";
import type { Database } from "../store/database.ts";
import { lateByMs } from "../store/dialect.ts";
import { runsWrittenSince, type WrittenRun } from "./watch-store.ts";

const LOOK_EVERY_MS = 1_000;

export interface RunWatch {
  database: () => Promise<Database>;
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

/** Tells what has changed since the call, at most once per look; the returned function ends it. */
export function watchRuns({ database, clock, owner }: RunWatch, tell: (changes: RunChanges) => void): () => void {
  const since = clock.now();
  let known: Known | undefined;
  let lookedAt = since;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const now = clock.now();
    const db = await database();
    // The earlier of both: the clock may have been set back.
    const from = Math.min(lookedAt, now) - lateByMs(db);
    const written = await runsWrittenSince(db, owner, from);
    if (stopped) return;
    // What was written before anybody listened is no news.
    known ??= remember(
      new Map(),
      written.filter(({ updatedAt }) => updatedAt < since),
    );
    const changes = changesOf(known, written, from);
    known = remember(known, written);
    lookedAt = now;
    if (changes.written.length > 0) tell(changes);
  };
  const lookOn = async (): Promise<void> => {
    // A store that cannot be read shows in the next call that needs it.
    await look().catch(() => {});
    if (!stopped) timer = setTimeout(() => void lookOn(), LOOK_EVERY_MS).unref();
  };
  void lookOn();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

type Known = ReadonlyMap<string, WrittenRun>;

/** Unfinished runs are remembered however long they are silent, finished ones while a look still returns them. */
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
    // One that is older than the look, and first heard of now, was in the list before.
    listChanged: changed.some((run) => run.finished || (!known.has(run.taskId) && run.createdAt >= from)),
  };
}
