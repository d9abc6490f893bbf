/** Sends the changes of one run to a live stream, by a cursor into its timeline: nothing is lost or sent twice. */

import type { OperationDeps } from "../../operations/operation.ts";
import { isIdle, type Run } from "../../runs/run.ts";
import { milestones, type RunTimelineEntry, timelineEntriesAfter } from "../../runs/history/timeline.ts";
import { readLive, timelineEntry } from "../../operations/view/read-view.ts";
import type { LiveEvents } from "../wire.ts";

/** Returns false if the client lags and the event was not sent. */
export type Send = <Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name], id?: number) => boolean;

const TIMELINE_PAGE_SIZE = 200;

export interface WatchedRun {
  owner: string;
  taskId: string;
  /** Sequence number of the last timeline entry that the client has. */
  after: number;
}

export interface RunUpdates {
  /** Reads the run and sends what has changed. */
  push: () => void;
  stop: () => void;
}

/** What the client has received so far. */
interface SentState {
  /** The run that the watched id stood for. */
  taskId: string | undefined;
  seq: number;
  milestones: Set<string>;
  /** The last `run` event, as JSON. */
  detail: string;
  /** The interaction that is streamed from Google for this client. */
  followed: { interactionId: string; leave: () => void } | undefined;
}

/** Pushes once at the start, and then whenever `push` is called. */
export function streamRunUpdates(deps: OperationDeps, watched: WatchedRun, send: Send): RunUpdates {
  const sent: SentState = {
    taskId: undefined,
    seq: watched.after,
    milestones: new Set(),
    detail: "",
    followed: undefined,
  };
  let isStopped = false;
  let isPushing = false;
  let pushAgain = false;
  const push = async (): Promise<void> => {
    // One at a time: two would send the same entries.
    pushAgain = isPushing;
    if (isStopped || isPushing) return;
    isPushing = true;
    // If the store cannot be read, the dashboard's next request reports it.
    await pushChanges(deps, { watched, sent, send }).catch(() => undefined);
    isPushing = false;
    if (isStopped) sent.followed?.leave();
    if (pushAgain) void push();
  };
  void push();
  return {
    push: () => void push(),
    stop: () => {
      isStopped = true;
      sent.followed?.leave();
    },
  };
}

interface UpdateContext {
  watched: WatchedRun;
  sent: SentState;
  send: Send;
}

async function pushChanges(deps: OperationDeps, { watched, sent, send }: UpdateContext): Promise<void> {
  const run = await deps.findRun(watched.owner, watched.taskId);
  // Another run has taken its place, with a timeline of its own.
  if (sent.taskId !== run.taskId) sent.seq = sent.taskId === undefined ? sent.seq : 0;
  sent.taskId = run.taskId;
  await followInteraction(deps, run, sent);
  // A client that lags would not get the details either, and reading them is not free: the next push sends them.
  if (!(await sendTimeline(deps, run, { watched, sent, send }))) return;
  const detail = { ...(await readLive(deps, run)), task_id: watched.taskId };
  const text = JSON.stringify(detail);
  if (text !== sent.detail && send("run", detail)) sent.detail = text;
}

/** Returns false if the client lags: entries that could not be sent are sent with the next push. */
async function sendTimeline(deps: OperationDeps, run: Run, { watched, sent, send }: UpdateContext): Promise<boolean> {
  const db = await deps.database();
  const sendEntry = (entry: RunTimelineEntry, seq: number): boolean =>
    send("timeline", { ...timelineEntry(entry), task_id: watched.taskId }, seq);
  const unsent: RunTimelineEntry[] = (await milestones(db, run)).filter(({ id }) => !sent.milestones.has(id));
  const sendMilestonesUntil = (at: number): boolean =>
    unsent.splice(0, unsent.findLastIndex((entry) => entry.at <= at) + 1).every((entry) => {
      const isSent = sendEntry(entry, sent.seq);
      if (isSent) sent.milestones.add(entry.id);
      return isSent;
    });
  for (;;) {
    const entries = await timelineEntriesAfter(db, run, { after: sent.seq, limit: TIMELINE_PAGE_SIZE });
    for (const { seq, ...entry } of entries) {
      if (!sendMilestonesUntil(entry.at) || !sendEntry(entry, seq)) return false;
      sent.seq = seq;
    }
    if (entries.length < TIMELINE_PAGE_SIZE) break;
  }
  return sendMilestonesUntil(Infinity);
}

/** Streams the interaction from Google, so that thoughts arrive live. Without a key or on errors, only polls update it. */
async function followInteraction(deps: OperationDeps, run: Run, sent: SentState): Promise<void> {
  const { interactionId, kind } = run;
  if (kind !== "agent" || interactionId === undefined || isIdle(run.status)) return;
  if (sent.followed?.interactionId === interactionId) return;
  try {
    if ((await deps.agent()) === undefined) return;
    const { runner } = await deps.research();
    runner.start();
    const leave = runner.watch({ ...run, interactionId });
    // No stream is free at the moment: the next push tries again.
    if (leave === undefined) return;
    sent.followed?.leave();
    sent.followed = { interactionId, leave };
  } catch {
    deps.log.debug("The run's progress stream could not be opened.");
  }
}
