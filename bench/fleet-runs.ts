/** Ten thousand runs that are under way at the simulated Google, stored in PostgreSQL and handed out to nobody yet. */

import { sql } from "kysely";
import { DEFAULT_AGENT } from "../src/gemini/agents.ts";
import { openDistributedQueue } from "../src/queue/distributed.ts";
import { pollKeyOf } from "../src/store/poll-key.ts";
import { saveInteractionId } from "../src/runs/interaction-store.ts";
import { commitIntent } from "../src/runs/start-store.ts";
import type { SavedLine } from "../src/simulator/interaction-state.ts";
import { keyFingerprint } from "../src/simulator/ledger.ts";
import { openPostgres } from "../src/store/postgres.ts";
import { TEST_KEY } from "../test/support/server.ts";
import { QUERY, quietLog } from "./questions.ts";

const LANES = 8;
const OWNERS = 10;
/** They end when the bench says so, by letting this much time go by. */
export const LIFE_MS = 24 * 3_600_000;

const INTENT = {
  agent: DEFAULT_AGENT,
  options: { max_wait_ms: 2 * LIFE_MS },
  estimate: { minutes: { low: 5, likely: 10, high: 20 }, cost_usd: { low: 1, likely: 2, high: 5 } },
  client: "bench",
  // Ten thousand messages on somebody's screen are no part of this.
  enableNotifications: false,
  maxWaitMs: 2 * LIFE_MS,
  keyFingerprint: undefined,
  baseUrl: "",
  processId: "a-process-that-died",
};

/** Through the product's own start protocol. Gives what the simulated Google remembers of them. */
export async function fillPostgres(url: string, runs: number): Promise<string> {
  const { db, close } = await openPostgres({ url, connections: LANES, log: quietLog });
  const queue = await openDistributedQueue({
    url,
    key: pollKeyOf({ key: undefined, baseUrl: "" }),
    follows: false,
    log: quietLog,
  });
  const now = Date.now();
  const lines: string[] = [];
  const lane = async (first: number): Promise<void> => {
    for (let run = first; run < runs; run += LANES) {
      const intent = {
        ...INTENT,
        owner: `user-${run % OWNERS}`,
        query: `${QUERY} (${run})`,
        joinKey: `key-${run}`,
        now,
      };
      const outcome = await commitIntent(db, intent, { join: false, queue });
      if (outcome.kind === "joined") throw new Error("Every run is one of its own.");
      const interactionId = `v1_bench_${run}`;
      await saveInteractionId(db, { attemptId: outcome.attemptId, interactionId, now }, queue);
      lines.push(`${JSON.stringify(rememberedStart(interactionId, now))}\n`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)));
  // Quiet until the bench wants them looked at.
  await db
    .updateTable("research_tasks")
    .set({ next_poll_at: now + 600_000, lease_until: null })
    .execute();
  await sql`analyze`.execute(db);
  await queue.close();
  await close();
  return lines.join("");
}

const rememberedStart = (id: string, at: number): SavedLine => ({
  event: "start",
  id,
  query: QUERY,
  agent: DEFAULT_AGENT,
  labels: {},
  key: keyFingerprint(TEST_KEY),
  at,
  skipped: 0,
  thinks: true,
  life: { duration_ms: LIFE_MS },
});
