/** `/api/live`: one stream per tab with what changes among the owner's runs, and all that the one looked at says. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { AppError } from "../../errors.ts";
import { cleanValue } from "../../platform/clean-text.ts";
import type { StreamPermits } from "../../operations/parts/stream-permits.ts";
import { findRuns } from "../../runs/run-store.ts";
import { listenToRuns } from "../../runs/history/shared-change-feed.ts";
import type { RunChanges } from "../../runs/history/change-feed.ts";
import { eventStream, type Outlet } from "./event-stream.ts";
import { ownRun } from "./runs-routes.ts";
import { summaryOf } from "./summary.ts";
import { type Say, tellRun } from "./run-updates.ts";
import type { CallerEnv } from "../../caller.ts";

const BEAT_MS = 15_000;
/** The change feed says when a run is to be read again; this is for what it does not know, such as a free stream. */
const BEATS_PER_READ = 4;
/** Whoever missed more reads the list again. */
const MOST_RUNS_AT_ONCE = 100;

export function serveLive(web: Hono<CallerEnv>, app: App, streams: StreamPermits): void {
  web.get("/api/live", async (context) => {
    const { owner } = context.get("caller");
    const id = context.req.query("run");
    // Before the first byte: a stream cannot say 404 any more.
    const run = id === undefined ? undefined : await ownRun(app.deps, owner, id);
    const release = streams.acquire(owner);
    if (release instanceof AppError) throw release;
    const after = Math.max(placeOf(context.req.query("after")), placeOf(context.req.header("last-event-id")));
    const watched = run && { taskId: run.taskId, after };
    const stream = liveStream(app, { owner, watched, gone: context.req.raw.signal, ended: release });
    return new Response(stream, {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    });
  });
}

const placeOf = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : 0);

interface Listener {
  owner: string;
  watched: { taskId: string; after: number } | undefined;
  gone: AbortSignal;
  ended: () => void;
}

function liveStream(app: App, { owner, watched, gone, ended }: Listener): ReadableStream<Uint8Array> {
  const { deps, version } = app;
  const hello = (say: Say): boolean => say("hello", { version });
  let lookAgain = (): void => {};
  return eventStream({
    until: AbortSignal.any([gone, app.shutdown.signal]),
    ended,
    caughtUp: (outlet) => {
      hello(sayTo(outlet));
      lookAgain();
    },
    begin: (outlet) => {
      const say = sayTo(outlet);
      hello(say);
      const told = watched && tellRun(deps, { owner, ...watched }, say);
      lookAgain = told?.look ?? lookAgain;
      let beats = 0;
      const beat = setInterval(() => {
        outlet.beat();
        beats += 1;
        if (beats % BEATS_PER_READ === 0) lookAgain();
      }, BEAT_MS).unref();
      const deaf = listenToRuns({ ...deps, owner }, (changes) => {
        if (changes.runs.length > 0) void tellChanges(app, owner, { changes, say }).catch(() => {});
        if (watched !== undefined && changes.written.includes(watched.taskId)) lookAgain();
      });
      return () => {
        clearInterval(beat);
        deaf();
        told?.stop();
      };
    },
  });
}

/** Of whatever came from the web, nothing that a reader cannot see. */
const sayTo =
  (outlet: Outlet): Say =>
  (name, data, id) =>
    outlet.send(name, cleanValue(data), id);

async function tellChanges(
  { deps, version }: App,
  owner: string,
  { changes, say }: { changes: RunChanges; say: Say },
): Promise<void> {
  // Whoever would miss some reads its list again.
  if (changes.runs.length > MOST_RUNS_AT_ONCE) {
    say("hello", { version });
    return;
  }
  const ids = changes.runs.map(({ taskId }) => taskId);
  const runs = await findRuns(await deps.database(), owner, ids);
  const now = deps.clock.now();
  say("runs", { runs: runs.map((run) => summaryOf(run, now)), list_changed: changes.listChanged });
}
