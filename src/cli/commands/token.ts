/** `token`: adds, lists and revokes the tokens of other users of the HTTP server. */

import { AppError } from "../../errors.ts";
import { addToken, listTokens, revokeToken, type TokenEntry } from "../../http/auth/tokens.ts";
import { isoTime, systemClock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { openStore } from "../../store/store.ts";
import { type Answer, runAnswer } from "../answer-command.ts";
import { answerWidth } from "../output.ts";
import { paintFor } from "../render/paint.ts";
import { type Column, tableLines } from "../render/table.ts";

export const addNamedToken = (name: string, { json = false }: { json?: boolean }): Promise<void> =>
  answer(json, async (db, now) => {
    const token = await addToken(db, { name, now });
    const remark = `This is the token for ${name}. It is not stored and cannot be shown again.`;
    return { structured: { success: true, name, token, created_at: isoTime(now) }, text: token, remark };
  });

export const listNamedTokens = ({ json = false }: { json?: boolean }): Promise<void> =>
  answer(json, async (db) => {
    const tokens = (await listTokens(db)).map(tokenRow);
    return {
      structured: { success: true, tokens },
      text: tokens.length === 0 ? "There are no tokens." : table(tokens),
    };
  });

export const revokeNamedToken = (name: string, { json = false }: { json?: boolean }): Promise<void> =>
  answer(json, async (db, now) => {
    const { pauseSchedulesOf } = await import("../../runs/schedules/schedule-store.ts");
    const { disableWebhooksOf } = await import("../../notifications/webhook-store.ts");
    await db.transaction().execute(async (transaction) => {
      await revokeToken(transaction, { name, now });
      await pauseSchedulesOf(transaction, name);
      await disableWebhooksOf(transaction, name);
    });
    const text = `The token for ${name} is revoked. The runs are kept, schedules are paused, webhooks disabled.`;
    return { structured: { success: true, name, revoked_at: isoTime(now) }, text };
  });

type TokenRow = ReturnType<typeof tokenRow>;

const tokenRow = ({ name, createdAt, lastUsedAt, revokedAt }: TokenEntry) => ({
  name,
  created_at: isoTime(createdAt),
  last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
  revoked_at: revokedAt === undefined ? null : isoTime(revokedAt),
});

const table = (tokens: TokenRow[]): string =>
  tableLines(columns, tokens, { width: answerWidth(), paint: paintFor(process.stdout) }).join("\n");

const columns: Column<TokenRow>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "CREATED", cell: ({ created_at }) => created_at, dropped: 1 },
  { title: "LAST USED", cell: ({ last_used_at }) => last_used_at ?? "never" },
  {
    title: "REVOKED",
    cell: ({ revoked_at }) => revoked_at ?? "no",
    style: ({ revoked_at }) => (revoked_at === null ? undefined : "careful"),
  },
];

const answer = (json: boolean, act: (db: Database, now: number) => Promise<Answer>): Promise<void> =>
  runAnswer(json, async ({ config, log, shutdown }) => {
    const { databaseFile: file, sharedDatabase: shared } = config;
    const store = await openStore({ file, shared, clock: systemClock, log });
    shutdown.finally(store.close);
    const obstacle = await store.obstacle();
    if (obstacle !== undefined) throw notStored(obstacle);
    return act(store.db, systemClock.now());
  });

const notStored = ({ code, suggestion }: AppError): AppError =>
  new AppError({ code, message: "Tokens are stored in the database, which cannot be written.", suggestion });
