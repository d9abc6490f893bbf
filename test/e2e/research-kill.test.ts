/**
 * Kills at every named point of starting, polling, finishing, cancelling and saving, and at random, checked against
 * Google's ledger.
 */

import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { atLength } from "../kit/length.ts";
import { drain, KILL_POINTS, killAll } from "../kit/kills/kills.ts";
import { judge, judgeLostNotifications } from "../kit/judge/kills-judge.ts";
import { openKillWorld, type KillWorld, type KillWorldOptions } from "../kit/kills/world.ts";

async function world(options?: KillWorldOptions): Promise<KillWorld> {
  const opened = await openKillWorld(options);
  onTestFinished(opened.close);
  return opened;
}

const EACH = atLength({ short: 1, long: 4 });
const RANDOM = atLength({ short: 10, long: 95 });

test(
  "nothing is lost, doubled or torn by kills at named points and at random (I8, P2, P5, O2)",
  { timeout: 900_000 },
  async () => {
    const here = await world({ seed: Number(process.env["KILL_SEED"] ?? 20_261_115) });
    await killAll(here, { each: EACH, random: RANDOM, lanes: 4 });
    await drain(here);
    const { broken, counts } = judge(here);
    process.stderr.write(`kills: ${JSON.stringify({ ...Object.fromEntries(here.kills), ...counts })}\n`);
    expect([...broken, ...judgeLostNotifications(here)]).toEqual([]);
    const points = Object.values(KILL_POINTS).flat();
    expect(points.filter((point) => (here.kills.get(point) ?? 0) < EACH)).toEqual([]);
    expect(counts["kills"]).toBeGreaterThanOrEqual(EACH * points.length + RANDOM);
    // Otherwise there is nothing to judge. Cancels are among the points above; most of their runs complete.
    const cases = {
      short: ["completed", "notified"],
      long: ["completed", "failed", "start_unknown", "notified", "files"],
    };
    expect(atLength(cases).filter((of) => (counts[of] ?? 0) === 0)).toEqual([]);
    await expectNoTemporaryReport(here);
  },
);

/** Files of a killed save are removed by the next save, an hour later. */
async function expectNoTemporaryReport(here: KillWorld): Promise<void> {
  const temporary = (): string[] =>
    readdirSync(here.reportsDir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tmp"));
  expect(temporary().length).toBeGreaterThan(0);
  const twoHoursAgo = Date.now() / 1_000 - 7_200;
  for (const name of temporary()) utimesSync(join(here.reportsDir, name), twoHoursAgo, twoHoursAgo);
  const [run] = here.query<{ task_id: string }>(
    "select task_id from research_tasks where status = 'completed' limit 1",
  );
  const life = here.begin();
  expect(await life.call("save_research_to_markdown", { task_id: run?.task_id ?? "" })).toMatchObject({
    success: true,
  });
  life.closeStdin();
  await life.ended;
  expect(temporary()).toEqual([]);
}

test("a kill during the first migration, in several processes at once, leaves nothing of it (P5)", async () => {
  const here = await world();
  for (let round = 0; round < 4; round += 1) {
    const lives = [1, 2, 3].map(() => here.begin({ args: ["worker"], failpoint: "during-migration" }));
    for (const life of lives) expect((await life.ended).killed).toBe(true);
    expect(here.query("select name from sqlite_master where name like 'research_%'")).toEqual([]);
  }
  const life = here.begin();
  expect(await life.call("start_deep_research", { query: "What survives?" })).toMatchObject({
    status: "running_async",
  });
  life.kill();
  await life.ended;
  await drain(here);
  expect(judge(here).broken).toEqual([]);
});

test("a poll that takes longer than the interval still ends the run (P2)", async () => {
  const interactions = { speed: 1_000, duration_ms: 0, get: [{ latency_ms: 700 }] };
  const here = await world({ scenario: { name: "slow-polls", interactions } });
  const life = here.begin();
  await life.call("start_deep_research", { query: "How slow can a poll be?" });
  await expect
    .poll(() => here.query<{ status: string }>("select status from research_tasks")[0]?.status)
    .toBe("completed");
  expect(here.gemini.ledger.interactionRequests()["get completed"]).toBeLessThanOrEqual(2);
});
