/**
 * Eight processes start research against one hard budget and are killed with kill -9 at random, on SQLite and PostgreSQL.
 * `BUDGET_KILLS=500` repeats it for longer.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { fresh } from "../kit/kills/kills.ts";
import { type ProductProcess, startProcess } from "../kit/kills/process.ts";
import { openKillWorld } from "../kit/kills/world.ts";
import { ROOT } from "../kit/server/server.ts";
import { sharedFor, sqlOn } from "../kit/store/databases.ts";

const KILLS = Number(process.env["BUDGET_KILLS"] ?? 40);
const LANES = 8;
/** Room for eight reservations, and for more starts as they are settled. */
const HARD_USD = 10 + KILLS / 4;

const refusalSchema = z.object({
  code: z.literal("BUDGET_EXCEEDED"),
  details: z.looseObject({ left_usd: z.number() }),
});

test(
  "no kill lets the starts of eight processes exceed a hard budget, and none is refused while there is room (I8, I13, T28)",
  { timeout: 60_000 + KILLS * 6_000 },
  async (context) => {
    const shared = await sharedFor();
    const database = shared === undefined ? {} : { GEMINI_SEARCH_DATABASE_URL: shared.url };
    const budget = `${HARD_USD}/${HARD_USD}`;
    const world = await openKillWorld({ seed: 20_261_119, env: { BUDGET_DAY_USD: budget, ...database } });
    context.onTestFinished(world.close);
    const sql = <Row>(statement: string): Row[] =>
      sqlOn<Row>({ file: join(world.configDir, "deep_research.db"), url: shared?.url }, statement, []);
    const begin = (args: string[] = []): ProductProcess =>
      startProcess({ build: join(ROOT, "dist", "main.js"), env: world.env, args });
    const refusals: { left: number; max: number }[] = [];
    const ask = async (child: ProductProcess) => {
      const answer = await child.call("start_deep_research", { query: fresh("a budget") });
      const { data } = refusalSchema.safeParse(answer?.error);
      if (data !== undefined) refusals.push({ left: data.details.left_usd, max: Number(data.details["max_usd"]) });
      return answer;
    };

    // Creates the database.
    const first = begin();
    await ask(first);
    first.closeStdin();
    await first.ended;

    let left = KILLS;
    const lane = async (): Promise<void> => {
      while ((left -= 1) >= 0) {
        const child = begin();
        const answers = [1, 2, 3].map(() => ask(child));
        await child.ready;
        // By answers and not by time alone, which a busy machine would use up for starting processes.
        const awaited = answers.slice(0, Math.floor(world.random() * 4));
        await Promise.race([Promise.all(awaited), sleep(10_000)]);
        await sleep(world.random() * 500);
        child.kill();
        expect(await child.ended, child.stderr()).toMatchObject({ killed: true });
        expect(usedMicros(sql)).toBeLessThanOrEqual(HARD_USD * 1_000_000);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    // What the killed processes left is collected and settled.
    const worker = begin(["worker", "--until-idle"]);
    expect(await worker.ended, worker.stderr()).toMatchObject({ code: 0 });

    const entries = new Map(sql<Entry>("select entry_id, state, micros from ledger").map((row) => [row.entry_id, row]));
    const accepted = world.gemini.ledger.acceptedStarts();
    const states = accepted.map(({ labels }) => entries.get(labels["attempt"] ?? "")?.state ?? "missing");
    process.stderr.write(
      `budget: ${JSON.stringify({ ...count(states), kills: KILLS, refusals: refusals.length, used: usedMicros(sql) / 1_000_000, hard: HARD_USD })}\n`,
    );
    expect(states.filter((state) => state !== "settled" && state !== "reserved")).toEqual([]);
    expect(accepted.length).toBeGreaterThan(LANES);
    // Each was refused for want of room.
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals.filter(({ left: usd, max }) => usd >= max)).toEqual([]);

    const last = begin();
    const room = HARD_USD - usedMicros(sql) / 1_000_000;
    const answer = await ask(last);
    const max = refusals.at(-1)?.max ?? 0;
    expect(answer?.success).toBe(room >= max);
    last.kill();
    await last.ended;
  },
);

interface Entry {
  entry_id: string;
  state: string;
  micros: number;
}

const usedMicros = (sql: <Row>(statement: string) => Row[]): number =>
  sql<{ used: number | null }>("select sum(micros) as used from ledger")[0]?.used ?? 0;

const count = (values: string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(values, (value) => value)].map(([value, those]) => [value, those.length]));
