/** Routes of the list and of one run: reading it, its timeline, and its name, star and place in the archive. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { countMatches, libraryInput, runPage } from "../../operations/list-research.ts";
import { organizeRun } from "../../operations/organize-run.ts";
import { parseInput, perform } from "../../operations/perform.ts";
import { readTimeline } from "../../runs/history/timeline.ts";
import { countListed, type ListCounts } from "../../runs/library/count-store.ts";
import { readJsonBody } from "./json-body.ts";
import { jsonResponse, outcomeResponse } from "./json-response.ts";
import { requestedRun } from "./requested-run.ts";
import { headOf, readLive, timelineEntry } from "../../operations/view/read-view.ts";
import type { CallerEnv } from "../../caller.ts";
import type { Organized, RunCounts, RunPage, Timeline } from "../wire.ts";

export function serveRuns(web: Hono<CallerEnv>, { deps, shutdown }: App): void {
  web.get("/api/runs", async (context) => {
    const { owner } = context.get("caller");
    const request = parseInput(libraryInput, listParameters(new URL(context.req.url).searchParams));
    const db = await deps.database();
    const { runs, next_cursor } = await runPage(db, owner, request);
    const counts = await countListed(db, owner);
    const matches = await countMatches(db, owner, request);
    const now = deps.clock.now();
    const page: RunPage = {
      runs: runs.map(({ run, found }) => ({ ...headOf(run, now), found })),
      next_cursor,
      ...withTotal(counts),
      found: matches && withTotal(matches),
    };
    return jsonResponse(page);
  });
  web.get("/api/runs/:id", async (context) => {
    const run = await requestedRun(deps, context);
    // Under the id that the page knows, which may stand for a later run.
    return jsonResponse({ ...(await readLive(deps, run)), task_id: context.req.param("id") });
  });
  web.get("/api/runs/:id/timeline", async (context) => {
    const run = await requestedRun(deps, context);
    const { entries, lastSeq } = await readTimeline(await deps.database(), run);
    const timeline: Timeline = { entries: entries.map(timelineEntry), last_seq: lastSeq };
    return jsonResponse(timeline);
  });
  web.post("/api/runs/:id/organize", async (context) => {
    const input = { ...(await readJsonBody(context.req.raw)), task_id: context.req.param("id") };
    const call = { ...context.get("caller"), client: "page", signal: deps.leaving, progress: () => {} };
    const outcome = await shutdown.during(perform(organizeRun, deps, { input, call }));
    if (outcome.failed) return outcomeResponse(outcome);
    return jsonResponse(headOf(await requestedRun(deps, context), deps.clock.now()) satisfies Organized);
  });
}

const withTotal = (listed: ListCounts): RunCounts => ({
  ...listed,
  total: Object.values(listed.counts).reduce((sum, count) => sum + count, 0),
});

/** Without empty fields of a form, and with the limit as a number and flags as booleans. */
function listParameters(parameters: URLSearchParams): Record<string, unknown> {
  const given = Object.fromEntries([...parameters].filter(([, value]) => value !== ""));
  const flags = ["starred", "archived"]
    .filter((name) => given[name] === "true" || given[name] === "false")
    .map((name) => [name, given[name] === "true"]);
  return {
    ...given,
    ...Object.fromEntries(flags),
    ...(given["limit"] === undefined ? {} : { limit: Number(given["limit"]) }),
  };
}
