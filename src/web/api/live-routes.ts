/** `/api/live`: one event stream per tab, with changes of the owner's runs and all updates of the open run. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { cleanValue } from "../../platform/clean-text.ts";
import type { StreamPermits } from "../../operations/parts/stream-permits.ts";
import { findRuns } from "../../runs/run-store.ts";
import { subscribeToRuns } from "../../runs/history/shared-change-feed.ts";
import type { RunChanges } from "../../runs/history/change-feed.ts";
import { type EventSink, eventStream } from "./event-stream.ts";
import { requestedRun } from "./requested-run.ts";
import { summaryOf } from "./summary.ts";
import { type Send, streamRunUpdates } from "./run-updates.ts";

const HEARTBEAT_INTERVAL_MS = 15_000;
/** The change feed triggers a push; this covers changes that are not in the feed, such as a stream that became free. */
const HEARTBEATS_PER_PUSH = 4;
/** With more changed runs at once, the client refetches its list. */
const MAX_RUNS_PER_EVENT = 100;

export function serveLive(web: Hono<CallerEnv>, app: App, streams: StreamPermits): void {
  web.get("/api/live", async (context) => {
    const { owner } = context.get("caller");
    const id = context.req.query("run");
    // Before the first byte: later, the status can no longer be 404.
    const run = id === undefined ? undefined : await requestedRun(app.deps, owner, id);
    const release = streams.acquire(owner);
    if (release instanceof AppError) throw release;
    const after = Math.max(cursorOf(context.req.query("after")), cursorOf(context.req.header("last-event-id")));
    const watched = run && { taskId: run.taskId, after };
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

const cursorOf = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : 0);

interface LiveClient {
  owner: string;
  watched: { taskId: string; after: number } | undefined;
  disconnected: AbortSignal;
  onEnd: () => void;
}

function liveStream(app: App, { owner, watched, disconnected, onEnd }: LiveClient): ReadableStream<Uint8Array> {
  const { deps, version } = app;
  const sendHello = (send: Send): boolean => send("hello", { version });
  let pushRun = (): void => {};
  return eventStream({
    signal: AbortSignal.any([disconnected, app.shutdown.signal]),
    onEnd,
    onCaughtUp: (sink) => {
      sendHello(cleanSend(sink));
      pushRun();
    },
    onStart: (sink) => {
      const send = cleanSend(sink);
      sendHello(send);
      const updates = watched && streamRunUpdates(deps, { owner, ...watched }, send);
      pushRun = updates?.push ?? pushRun;
      let heartbeats = 0;
      const timer = setInterval(() => {
        sink.heartbeat();
        heartbeats += 1;
        if (heartbeats % HEARTBEATS_PER_PUSH === 0) pushRun();
      }, HEARTBEAT_INTERVAL_MS).unref();
      const unsubscribe = subscribeToRuns({ ...deps, owner }, (changes) => {
        if (changes.runs.length > 0) void sendChanges(app, owner, { changes, send }).catch(() => {});
        if (watched !== undefined && changes.written.includes(watched.taskId)) pushRun();
      });
      return () => {
        clearInterval(timer);
        unsubscribe();
        updates?.stop();
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
  send("runs", { runs: runs.map((run) => summaryOf(run, now)), list_changed: changes.listChanged });
}
