/** The database load of open pages: changes are notified to the server instead of being polled every second. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { hashToken, newToken } from "../../src/http/auth/tokens.ts";
import { ask } from "../kit/store/databases.ts";
import { type LiveStream, openPageServer } from "../kit/browser/page-api.ts";

const PAGES = 50;
const MEASURED_MS = 20_000;
/** PostgreSQL publishes the counts of a session within ten seconds. */
const PUBLISHED_MS = 11_000;
/** Four of a server without a page, two for revoked tokens, a read per owner every 20 s, and a reserve. */
const MAX_QUERIES_PER_SECOND = 12;

const insertOwner = (owner: string, token: string): string => `
  insert into access_tokens (token_hash, name, created_at) values ('${hashToken(token)}', '${owner}', 1);
  insert into research_tasks (task_id, owner, kind, query, status, model, interaction_id, created_at, updated_at)
  values ('run-of-${owner}', '${owner}', 'agent', 'q', 'running_async', 'deep-research-preview-04-2026',
    'v1_${owner}', ${Date.now()}, ${Date.now()});`;

test(`${PAGES} open pages of ${PAGES} owners read the database a few times a second, and show a change at once (P7, J3)`, async (context) => {
  const scene = await openPageServer(context);
  const server = await scene.serve({ RESEARCH_MAX_RPS: "0" });
  await server.get("/api/runs");
  const url = scene.env["GEMINI_SEARCH_DATABASE_URL"] ?? "";
  const owners = Array.from({ length: PAGES }, (_, n) => ({ owner: `owner-${n}`, token: newToken() }));
  await ask(url, owners.map(({ owner, token }) => insertOwner(owner, token)).join("\n"));
  const streams = await Promise.all(
    owners.map(({ token }) => server.live("/api/live", { authorization: `Bearer ${token}` })),
  );
  await Promise.all(streams.map((stream) => stream.until(() => stream.named("hello").length > 0)));
  await sleep(PUBLISHED_MS);
  const queries = await queriesPerSecond(url);
  expect(queries).toBeLessThanOrEqual(MAX_QUERIES_PER_SECOND);
  await ask(url, "update research_tasks set progress = 42, updated_at = updated_at + 1");
  await Promise.all(streams.map((stream) => stream.until(() => progressShown(stream) === 42)));
});

const progressShown = (stream: LiveStream): number | undefined => stream.named("runs").at(-1)?.data.runs[0]?.progress;

async function queriesPerSecond(url: string): Promise<number> {
  const first = await committed(url);
  await sleep(MEASURED_MS);
  return ((await committed(url)) - first) / (MEASURED_MS / 1_000);
}

async function committed(url: string): Promise<number> {
  const [row] = await ask<{ count: number }>(
    url,
    "select pg_stat_get_db_xact_commit(oid) as count from pg_database where datname = current_database()",
  );
  return row?.count ?? 0;
}
