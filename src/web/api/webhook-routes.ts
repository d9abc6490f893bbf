/** Routes of the user's webhooks: list, add, test and remove. Only the operator's terminal adds one to a private address. */

import type { Hono } from "hono";
import type { App } from "../../app.ts";
import type { CallerEnv } from "../../caller.ts";
import { createWebhook, readWebhooks, removeWebhook, testWebhook } from "../../notifications/manage-webhooks.ts";
import type { WebhookAdded, WebhookList, WebhookTested } from "../wire.ts";
import { jsonResponse, readJsonBody } from "./json.ts";

const ONE = "/api/webhooks/:id{(?:whk|sub)_[0-9a-f]{12,32}}";

export function serveWebhooks(web: Hono<CallerEnv>, { deps, webhooks: senderDeps }: App): void {
  web.get("/api/webhooks", async (context) => {
    const webhooks = await readWebhooks(await deps.database(), context.get("caller").owner);
    return jsonResponse({ webhooks } satisfies WebhookList);
  });
  web.post("/api/webhooks", async (context) => {
    const { url, shape, events } = await readJsonBody(context.req.raw);
    const { owner } = context.get("caller");
    const added = await createWebhook(await deps.database(), { url, shape, events }, { owner, now: deps.clock.now() });
    return jsonResponse(added satisfies WebhookAdded);
  });
  web.post(`${ONE}/test`, async (context) => {
    const of = { owner: context.get("caller").owner, webhookId: context.req.param("id") };
    return jsonResponse((await testWebhook(await deps.database(), of, senderDeps())) satisfies WebhookTested);
  });
  web.delete(ONE, async (context) => {
    const of = { owner: context.get("caller").owner, webhookId: context.req.param("id") };
    await removeWebhook(await deps.database(), of);
    return jsonResponse({});
  });
}
