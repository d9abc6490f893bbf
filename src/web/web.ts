/** Server side of the dashboard: its files, its JSON API and its event stream. */

import { Hono } from "hono";
import type { App } from "../app.ts";
import type { StreamPermits } from "../operations/parts/stream-permits.ts";
import { serveAssets } from "./assets.ts";
import type { CallerEnv } from "../caller.ts";
import { serveCitations } from "./api/citations-routes.ts";
import { serveConversations } from "./api/conversation-routes.ts";
import { serveFigures } from "./api/figures-routes.ts";
import { serveLive } from "./api/live-routes.ts";
import { outcomeResponse } from "./api/json-response.ts";
import { refused } from "../operations/perform.ts";
import { servePlans } from "./api/plan-routes.ts";
import { serveReports } from "./api/report-routes.ts";
import { serveResearch, serveRunActions } from "./api/research-routes.ts";
import { serveRuns } from "./api/runs-routes.ts";

/** To be mounted at the root, behind authentication. */
export function createWeb(app: App, streams: StreamPermits): Hono<CallerEnv> {
  const web = new Hono<CallerEnv>();
  serveAssets(web, app);
  serveRuns(web, app);
  serveReports(web, app);
  serveCitations(web, app);
  serveResearch(web, app);
  serveConversations(web, app);
  servePlans(web, app);
  serveRunActions(web, app);
  serveFigures(web, app);
  serveLive(web, app, streams);
  web.onError((error) => outcomeResponse(refused(error, app.deps)));
  return web;
}
