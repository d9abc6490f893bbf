/** Routes that check the citations of a report on the user's request, and the bibliography files of its sources. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { citationsView } from "../../operations/citations/citations-view.ts";
import { bibliographyFile } from "../../operations/parts/report-file.ts";
import { perform } from "../../operations/perform.ts";
import { verifyCitations } from "../../operations/citations/verify-citations.ts";
import { BIBLIOGRAPHY_FILES, BIBLIOGRAPHY_FORMATS } from "../../reports/bibliography/bibliography-formats.ts";
import { jsonResponse, outcomeResponse, readJsonBody } from "./json.ts";
import { download } from "./report-routes.ts";
import { requestedRun } from "./runs-routes.ts";
import type { CitationsView } from "../wire.ts";

export function serveCitations(web: Hono<CallerEnv>, { deps, shutdown }: App): void {
  const viewOf = async (owner: string, taskId: string, unjudged?: string): Promise<Response> => {
    const view: CitationsView = { ...(await citationsView(deps, owner, taskId)), not_judged: unjudged };
    return jsonResponse(view);
  };
  web.get("/api/runs/:id/citations", async (context) => {
    const { owner } = context.get("caller");
    const { taskId } = await requestedRun(deps, context);
    return viewOf(owner, taskId);
  });
  // The page asks for a few sources at a time, shows what was found, and stops when its user leaves or cancels.
  web.post("/api/runs/:id/citations", async (context) => {
    const caller = context.get("caller");
    const { taskId } = await requestedRun(deps, context);
    const { numbers, refetch } = await readJsonBody(context.req.raw);
    const signal = AbortSignal.any([context.req.raw.signal, deps.leaving]);
    const input = { task_id: taskId, numbers, refetch };
    const call = { ...caller, client: "page", signal, progress: () => {} };
    const outcome = await shutdown.during(perform(verifyCitations, deps, { input, call }));
    return outcome.failed ? outcomeResponse(outcome) : viewOf(caller.owner, taskId, outcome.structured.not_judged);
  });
  for (const format of BIBLIOGRAPHY_FORMATS) {
    const { ending, type } = BIBLIOGRAPHY_FILES[format];
    web.get(`/api/runs/:id/sources.${ending}`, async (context) => {
      const { owner } = context.get("caller");
      const { taskId } = await requestedRun(deps, context);
      return download(await bibliographyFile(deps, { owner, task_id: taskId }, format), `${type}; charset=utf-8`);
    });
  }
}
