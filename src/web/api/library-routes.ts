/** The route that renames, stars and archives a run. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import { organizeRun } from "../../operations/organize-run.ts";
import { perform } from "../../operations/perform.ts";
import { readJsonBody } from "./json-body.ts";
import { jsonResponse, outcomeResponse } from "./json-response.ts";
import { requestedRun } from "./requested-run.ts";
import { headOf } from "../../operations/view/read-view.ts";
import type { CallerEnv } from "../../caller.ts";
import type { Organized } from "../wire.ts";

export function serveLibrary(web: Hono<CallerEnv>, { deps, shutdown }: App): void {
  web.post("/api/runs/:id/organize", async (context) => {
    const caller = context.get("caller");
    const input = { ...(await readJsonBody(context.req.raw)), task_id: context.req.param("id") };
    const call = { ...caller, client: "page", signal: deps.leaving, progress: () => {} };
    const outcome = await shutdown.during(perform(organizeRun, deps, { input, call }));
    if (outcome.failed) return outcomeResponse(outcome);
    const run = await requestedRun(deps, caller.owner, input.task_id);
    return jsonResponse(headOf(run, deps.clock.now()) satisfies Organized);
  });
}
