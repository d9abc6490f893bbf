/** What the page reads about runs: the list, one run, and what happened to it. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { listInput, runPage } from "../../operations/list-research.ts";
import { taskIdField } from "../../operations/operation.ts";
import { parseInput } from "../../operations/perform.ts";
import { isoTime } from "../../platform/clock.ts";
import { countRuns } from "../../runs/history/figures-store.ts";
import type { Run } from "../../runs/run.ts";
import { readStory, type StoryEntry } from "../../runs/history/timeline.ts";
import { z } from "zod";
import { asJson } from "./refused.ts";
import { detailOf, summaryOf } from "./summary.ts";
import type { WebEnv } from "../caller.ts";
import type { RunPage, Timeline, TimelineEntry } from "../wire.ts";

const runInput = z.object({ task_id: taskIdField });

/** An id that cannot be one is refused before it is looked for. */
export const ownRun = (deps: App["deps"], owner: string, id: string): Promise<Run> =>
  deps.findRun(owner, parseInput(runInput, { task_id: id }).task_id);

export function serveRuns(web: Hono<WebEnv>, { deps }: App): void {
  web.get("/api/runs", async (context) => {
    const { owner } = context.get("caller");
    const request = parseInput(listInput, wishOf(new URL(context.req.url).searchParams));
    const db = await deps.database();
    const { runs, next_cursor } = await runPage(db, owner, request);
    const counts = await countRuns(db, owner);
    const now = deps.clock.now();
    const page: RunPage = {
      runs: runs.map(({ run, found }) => ({ ...summaryOf(run, now), ...(found === undefined ? {} : { found }) })),
      ...(next_cursor === undefined ? {} : { next_cursor }),
      counts,
      total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    };
    return asJson(page);
  });
  web.get("/api/runs/:id", async (context) => {
    const run = await ownRun(deps, context.get("caller").owner, context.req.param("id"));
    return asJson(await detailOf(deps, run));
  });
  web.get("/api/runs/:id/timeline", async (context) => {
    const run = await ownRun(deps, context.get("caller").owner, context.req.param("id"));
    const { entries, lastSeq } = await readStory(await deps.database(), run);
    const timeline: Timeline = { entries: entries.map(entryOf), last_seq: lastSeq };
    return asJson(timeline);
  });
}

export const entryOf = ({ id, at, kind, text }: StoryEntry): TimelineEntry => ({ id, at: isoTime(at), kind, text });

/** An empty field of a form is none. */
function wishOf(parameters: URLSearchParams): Record<string, unknown> {
  const given = Object.fromEntries([...parameters].filter(([, value]) => value !== ""));
  return { ...given, ...(given["limit"] === undefined ? {} : { limit: Number(given["limit"]) }) };
}
