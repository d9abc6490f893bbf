/**
 * Server side of the page, mounted behind authentication. The page (`page/`) is static files; whatever it shows, it
 * reads from `/api`, where a run is the view of `operations/view`, and whatever it does is one of the operations. `wire.ts`
 * is the contract of both sides. The run card of a chat is built from the same components (`page/chat/`), and reads the
 * same values through two tools (`chat/`) instead of `/api`.
 */

import { Hono } from "hono";
import type { App } from "../app.ts";
import type { StreamPermits } from "../operations/parts/stream-permits.ts";
import { serveAssets } from "./assets.ts";
import type { CallerEnv } from "../caller.ts";
import { type KeyEntry, serveKey } from "./api/key-routes.ts";
import { serveCitations } from "./api/citations-routes.ts";
import { serveConversations, serveFigures, servePlans, serveRestarts, serveRuns } from "./api/runs-routes.ts";
import { serveLibrary } from "./api/library-routes.ts";
import { serveLive } from "./api/live-routes.ts";
import { outcomeResponse } from "./api/json.ts";
import { refused } from "../operations/perform.ts";
import { serveReports } from "./api/report-routes.ts";
import { serveSchedules } from "./api/schedule-routes.ts";
import { serveResearch, serveRunActions } from "./api/research-routes.ts";
import { serveWebhooks } from "./api/webhook-routes.ts";

export interface WebParts {
  streams: StreamPermits;
  keyEntry: KeyEntry;
}

/** To be mounted at the root, behind authentication. */
export function createWeb(app: App, { streams, keyEntry }: WebParts): Hono<CallerEnv> {
  const web = new Hono<CallerEnv>();
  serveAssets(web, app);
  serveRuns(web, app);
  serveReports(web, app);
  serveCitations(web, app);
  serveResearch(web, app);
  serveConversations(web, app);
  servePlans(web, app);
  serveRestarts(web, app);
  serveRunActions(web, app);
  serveFigures(web, app);
  serveLibrary(web, app);
  serveSchedules(web, app);
  serveLive(web, app, streams);
  serveWebhooks(web, app);
  serveKey(web, app, keyEntry);
  web.onError((error) => outcomeResponse(refused(error, app.deps)));
  return web;
}
