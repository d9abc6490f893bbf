/** `/api/live`: one event stream per browser, with changes of the owner's runs and all updates of the open ones. */

import type { Hono, HonoRequest } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { AppError } from "../../errors.ts";
import { cleanValue } from "../../platform/clean-text.ts";
import type { StreamPermits } from "../../operations/parts/stream-permits.ts";
import { findRuns } from "../../runs/run-store.ts";
import { subscribeToRuns } from "../../runs/history/shared-change-feed.ts";
import type { RunChanges } from "../../runs/history/change-feed.ts";
import { type EventSink, eventStream } from "./event-stream.ts";
import { ownedRun } from "./requested-run.ts";
import { headOf } from "../../operations/view/read-view.ts";
import { type Send, streamRunUpdates } from "./run-updates.ts";

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
