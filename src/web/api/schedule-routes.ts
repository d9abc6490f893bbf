/** Routes of schedules: their list, and every action on them, by the same operation as on every other transport. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { scheduleResearch } from "../../operations/schedules/schedule-research.ts";
import { consentTo } from "../consent.ts";
import { outcomeResponse, readJsonBody } from "./json.ts";
import { createActor } from "./research-routes.ts";

export function serveSchedules(web: Hono<CallerEnv>, app: App): void {
  const { act } = createActor(app);
  const operation = scheduleResearch;
  web.get("/api/schedules", async (context) =>
    outcomeResponse(await act(context, { operation, input: { action: "list" } })),
  );
  web.post("/api/schedules", async (context) => {
    const { agreed, ...input } = await readJsonBody(context.req.raw);
    return outcomeResponse(await act(context, { operation, input, consent: consentTo({ operation, input, agreed }) }));
  });
}
