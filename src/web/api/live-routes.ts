/**
 * `/api/live`: one event stream per browser, with changes of the owner's runs and all updates of the open ones. A run is
 * followed by a cursor into its timeline: nothing is lost or sent twice.
 */

import type { Hono, HonoRequest } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { cleanValue } from "../../platform/clean-text.ts";
import type { StreamPermits } from "../../operations/parts/stream-permits.ts";
import { findRuns } from "../../runs/run-store.ts";
import { type RunChanges, subscribeToRuns } from "../../runs/history/change-feed.ts";
import { type EventSink, eventStream } from "./event-stream.ts";
import { ownedRun } from "./runs-routes.ts";
import { headOf } from "../../operations/view/head-view.ts";
import { readLive, timelineEntry } from "../../operations/view/read-view.ts";
import type { OperationDeps } from "../../operations/operation.ts";
import { isIdle, type Run } from "../../runs/run.ts";
import { milestones, type RunTimelineEntry, timelineEntriesAfter } from "../../runs/history/timeline.ts";
import type { LiveEvents } from "../wire.ts";

const HEARTBEAT_INTERVAL_MS = 15_000;
/** The change feed triggers a push; this covers changes that are not in the feed, such as a stream that became free. */
const HEARTBEATS_PER_PUSH = 4;
/** More windows than anybody opens. Each watched run may take a progress stream from Google. */
const MAX_WATCHED_RUNS = 32;
/** With more changed runs at once, the client refetches its list. */
const MAX_RUNS_PER_EVENT = 100;

export function serveLive(web: Hono<CallerEnv>, app: App, streams: StreamPermits): void {
  web.get("/api/live", async (context) => {
    const { owner } = context.get("caller");
    // Before the first byte: later, the status can no longer be 404.
    const watched = await watchedRuns(app, owner, context.req);
    const release = streams.acquire(owner);
    if (release instanceof AppError) throw release;
    const stream = liveStream(app, { owner, watched, disconnected: context.req.raw.signal, onEnd: release });
    return new Response(stream, {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    });
  });
}

/** A run that was deleted meanwhile is left out, unless it is the only one. */
async function watchedRuns({ deps }: App, owner: string, req: HonoRequest): Promise<Watched[]> {
  const ids = (req.queries("run") ?? []).slice(0, MAX_WATCHED_RUNS);
  const found = await Promise.allSettled(ids.map((id) => ownedRun(deps, owner, id)));
  // Under the ids that the page knows, which may stand for later runs.
  const watched = ids.flatMap((taskId, index) =>
    found[index]?.status === "rejected" ? [] : [{ taskId, after: cursorOf(req.queries("after")?.[index]) }],
  );
  const [first] = found;
  if (watched.length === 0 && first?.status === "rejected") throw first.reason;
  // A header can name the position in one timeline only.
  const last = cursorOf(req.header("last-event-id"));
  return ids.length === 1 ? watched.map((run) => ({ ...run, after: Math.max(run.after, last) })) : watched;
}

interface Watched {
  taskId: string;
  /** Sequence number of the last timeline entry that the client has. */
  after: number;
}

const cursorOf = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : 0);

interface LiveClient {
  owner: string;
  watched: readonly Watched[];
  disconnected: AbortSignal;
  onEnd: () => void;
}

function liveStream(app: App, { owner, watched, disconnected, onEnd }: LiveClient): ReadableStream<Uint8Array> {
  const { deps, version } = app;
  const sendHello = (send: Send): boolean => send("hello", { version });
  let pushRuns = (): void => {};
  return eventStream({
    signal: AbortSignal.any([disconnected, app.shutdown.signal]),
    onEnd,
    onCaughtUp: (sink) => {
      sendHello(cleanSend(sink));
      pushRuns();
    },
    onStart: (sink) => {
      const send = cleanSend(sink);
      sendHello(send);
      const updates = new Map(watched.map((run) => [run.taskId, streamRunUpdates(deps, { owner, ...run }, send)]));
      pushRuns = () => {
        for (const { push } of updates.values()) push();
      };
      let heartbeats = 0;
      const timer = setInterval(() => {
        sink.heartbeat();
        heartbeats += 1;
        if (heartbeats % HEARTBEATS_PER_PUSH === 0) pushRuns();
      }, HEARTBEAT_INTERVAL_MS).unref();
      const unsubscribe = subscribeToRuns({ ...deps, owner }, (changes) => {
        if (changes.runs.length > 0) void sendChanges(app, owner, { changes, send }).catch(() => {});
        for (const taskId of changes.written) updates.get(taskId)?.push();
      });
      return () => {
        clearInterval(timer);
        unsubscribe();
        for (const { stop } of updates.values()) stop();
      };
    },
  });
}

/** Removes invisible characters from text that came from the web. */
const cleanSend =
  (sink: EventSink): Send =>
  (name, data, id) =>
    sink.send(name, cleanValue(data), id);

async function sendChanges(
  { deps, version }: App,
  owner: string,
  { changes, send }: { changes: RunChanges; send: Send },
): Promise<void> {
  // Too many changes: `hello` makes the client refetch its list.
  if (changes.runs.length > MAX_RUNS_PER_EVENT) {
    send("hello", { version });
    return;
  }
  const ids = changes.runs.map(({ taskId }) => taskId);
  const runs = await findRuns(await deps.database(), owner, ids);
  const now = deps.clock.now();
  send("runs", { runs: runs.map((run) => headOf(run, now)), list_changed: changes.listChanged });
}

/** Returns false if the client lags and the event was not sent. */
type Send = <Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name], id?: number) => boolean;

const TIMELINE_PAGE_SIZE = 200;

interface WatchedRun extends Watched {
  owner: string;
}

interface RunUpdates {
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
function streamRunUpdates(deps: OperationDeps, watched: WatchedRun, send: Send): RunUpdates {
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
    // If the store cannot be read, the page's next request reports it.
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
