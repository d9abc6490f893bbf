/** Many clients at once whose requests have the same ids: each gets its own answers only. */

import { join } from "node:path";
import { expect, test } from "vitest";
import { addToken } from "../../src/http/auth/tokens.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { callMarked, openMarkedClient, searchMarked } from "../kit/server/marked-clients.ts";
import { silentLog as log } from "../kit/log.ts";

const CLIENTS = 24;
const CALLS_EACH = 20;

/** In random order, so that answers overtake each other. */
const DELAYS = Array.from({ length: CLIENTS * 2 }, (_, n) => ({ latency_ms: (n * 37) % 100 }));

async function tokensFor(configDir: string, count: number): Promise<string[]> {
  const store = await openSqlite(join(configDir, "deep_research.db"), log);
  try {
    const names = Array.from({ length: count }, (_, n) => `client-${n}`);
    return await Promise.all(names.map((name) => addToken(store.db, { name, now: Date.now() })));
  } finally {
    await store.close();
  }
}

test("clients of both eras with colliding request ids get their own answers only (A9)", async (context) => {
  const scene = await openHttpScene(context, { name: "delays", tasks: { search: DELAYS } });
  const server = await scene.http({ env: { MCP_RATE_LIMIT_PER_MINUTE: "0" } });
  const tokens = await tokensFor(scene.configDir, CLIENTS);
  const wrong = await Promise.all(
    tokens.map(async (token, index) => {
      const client = await openMarkedClient({ url: server.url, token, era: index % 2 === 0 ? "modern" : "legacy" });
      const found = [await searchMarked(client), await searchMarked(client)];
      for (let n = 0; n < CALLS_EACH; n += 1) found.push((await callMarked(client, n)).wrong);
      return found;
    }),
  );
  expect(wrong.flat()).toHaveLength(CLIENTS * (CALLS_EACH + 2));
  expect(wrong.flat().filter(Boolean)).toEqual([]);
  expect(scene.gemini.ledger.exchanges("search")).toBe(CLIENTS * 2);
});

test("several clients of one user, with and without sessions, keep their request ids apart (A9)", async (context) => {
  const scene = await openHttpScene(context, { name: "delays", tasks: { search: DELAYS } });
  const server = await scene.http();
  const wrong = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, index) => {
      const era = index % 2 === 0 ? "modern" : "legacy";
      const client = await openMarkedClient({ url: server.url, token: server.token, era });
      return [await searchMarked(client), await searchMarked(client)];
    }),
  );
  expect(wrong.flat().filter(Boolean)).toEqual([]);
});
