/** `webhook`: adds, lists, tests and removes the webhooks of the user of this machine. */

import type { App } from "../../app.ts";
import { LOCAL_OWNER } from "../../caller.ts";
import { EVENTS } from "../../notifications/event-names.ts";
import type { WebhookView } from "../../notifications/manage-webhooks.ts";
import type { Database } from "../../store/database.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { answerWidth, EXIT_CODES } from "../output.ts";
import { paintFor } from "../render/paint.ts";
import { type Column, tableLines } from "../render/table.ts";

const owner = LOCAL_OWNER;
const manage = () => import("../../notifications/manage-webhooks.ts");

interface Flags {
  json?: boolean;
}

interface AddFlags extends Flags {
  shape?: string;
  events?: string[];
  private?: boolean;
}

export const addWebhook = (
  url: string,
  { private: isPrivate = false, json = false, ...given }: AddFlags,
): Promise<void> =>
  answer(json, async (db, { deps }) => {
    const { createWebhook } = await manage();
    const added = await createWebhook(db, { url, ...given }, { owner, isPrivate, now: deps.clock.now() });
    const { webhook_id: id, secret } = added;
    const remark =
      secret === undefined
        ? `The webhook ${id} is added. Try it: gemini-search-mcp webhook test ${id}`
        : `The webhook ${id} is added. This is the secret that signs what it is sent. It cannot be shown again.`;
    return { structured: { success: true, ...added }, text: secret ?? id, remark };
  });

export const listWebhooks = ({ json = false }: Flags): Promise<void> =>
  answer(json, async (db) => {
    const webhooks = await (await manage()).readWebhooks(db, owner);
    return {
      structured: { success: true, webhooks },
      text: webhooks.length === 0 ? "There are no webhooks." : table(webhooks),
    };
  });

export const testWebhook = (webhookId: string, { json = false }: Flags): Promise<void> =>
  answer(json, async (db, app) => {
    const tested = await (await manage()).testWebhook(db, { owner, webhookId }, app.webhooks());
    const text = tested.delivered ? `The test was delivered. ${tested.message}` : `Not delivered. ${tested.message}`;
    return {
      structured: { success: tested.delivered, ...tested },
      text,
      exitCode: tested.delivered ? EXIT_CODES.ok : EXIT_CODES.failed,
    };
  });

export const removeWebhook = (webhookId: string, { json = false }: Flags): Promise<void> =>
  answer(json, async (db) => {
    await (await manage()).removeWebhook(db, { owner, webhookId });
    return { structured: { success: true, webhook_id: webhookId }, text: `The webhook ${webhookId} is removed.` };
  });

const table = (webhooks: WebhookView[]): string =>
  tableLines(columns, webhooks, { width: answerWidth(), paint: paintFor(process.stdout) }).join("\n");

const columns: Column<WebhookView>[] = [
  { title: "ID", cell: ({ webhook_id }) => webhook_id },
  { title: "ADDRESS", cell: ({ address }) => address },
  { title: "SHAPE", cell: ({ shape }) => shape, dropped: 1 },
  { title: "EVENTS", cell: ({ events }) => (events.length === EVENTS.length ? "all" : events.join(" ")), dropped: 2 },
  {
    title: "STATE",
    cell: ({ disabled }) => disabled ?? "active",
    style: ({ disabled }) => (disabled === undefined ? undefined : "careful"),
  },
];

const answer = (json: boolean, act: (db: Database, app: App) => Promise<Answer>): Promise<void> =>
  runAnswer(json, async (app) => act(await app.deps.database(), app));
