/** The page's side of the server: its files, what it asks, and what it hears. Whoever gets here is known. */

import { Hono } from "hono";
import type { App } from "../app.ts";
import type { StreamPermits } from "../operations/parts/stream-permits.ts";
import { serveAssets } from "./assets.ts";
import type { CallerEnv } from "../caller.ts";
import { serveFigures } from "./api/figures-routes.ts";
import { serveLive } from "./api/live-routes.ts";
import { answerOf } from "./api/refused.ts";
import { refused } from "../operations/perform.ts";
import { serveReports } from "./api/report-routes.ts";
import { serveResearch } from "./api/research-routes.ts";
import { serveRuns } from "./api/runs-routes.ts";

/** To be mounted at the root, behind whoever checks who is asking. */
export function createWeb(app: App, streams: StreamPermits): Hono<CallerEnv> {
  const web = new Hono<CallerEnv>();
  serveAssets(web, app);
  serveRuns(web, app);
  serveReports(web, app);
  serveResearch(web, app);
  serveFigures(web, app);
  serveLive(web, app, streams);
  web.onError((error) => answerOf(refused(error, app.deps)));
  return web;
}
