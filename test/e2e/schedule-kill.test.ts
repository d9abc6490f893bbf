/** Kills of workers that start the runs of schedules, at each point of a start and at random, judged by Google's ledger. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { judge } from "../kit/judge/kills-judge.ts";
import { drain, prepare, SCHEDULE_KILL_POINTS } from "../kit/kills/kills.ts";
import { type KillWorld, openKillWorld } from "../kit/kills/world.ts";
import { atLength } from "../kit/length.ts";
import { waitFor } from "../kit/wait-for.ts";

const RESEARCH = "What is new about heat pumps?";
const SEARCH = "What does a heat pump cost today?";
const RANDOM_ROUNDS = atLength({ short: 2, long: 40 });
const SOON = { timeout: 60_000, interval: 100 };

interface ScheduledRun {
  task_id: string;
  status: string;
  kind: string;
}

const runsOf = (world: KillWorld, query: string): ScheduledRun[] =>
  world.query(
    "select task_id, status, kind, error_code, created_at from research_tasks where query = ? and schedule_id is not null and gave_way = 0",
    query,
  );

const isOpen = ({ status }: ScheduledRun): boolean => !["completed", "failed", "start_unknown"].includes(status);

/** How many occurrences are over, whether they were claimed or not. */
let rounds = 0;

/** Several occurrences were missed, as after a night of sleep: they are one. The user agreed to one start of each. */
function makeDue(world: KillWorld, query: string): void {
  rounds += 1;
  if (query === RESEARCH) world.user.askAgain({ subject: query, accepted: rounds });
  const missed = Date.now() - 3 * 86_400_000 + rounds;
  world.query("update schedules set next_at = ? where input_json like '%' || ? || '%'", missed, query);
}

/** A worker that is not killed brings the occurrence to an end; the user decides about a start whose outcome is unknown. */
async function settle(world: KillWorld, query: string, expected: number): Promise<void> {
  const worker = world.begin({ args: ["worker"] });
  await waitFor(() => {
    expect(runsOf(world, query)).toHaveLength(expected);
    expect(runsOf(world, query).filter(isOpen)).toEqual([]);
  }, SOON);
  worker.kill();
  await worker.ended;
  const unknown = runsOf(world, query).find(
    ({ task_id, status }) =>
      status === "start_unknown" &&
      world.query("select 1 from research_tasks where carries_on = ?", task_id).length === 0,
  );
  if (unknown === undefined) return;
  await expectBlocked(world, query, expected);
  const server = world.begin();
  const { task_id } = unknown;
  const found = world.gemini.ledger.acceptedStarts().findLast(({ labels }) => labels["run"] === task_id);
  const answer = await server.call("resume_research", {
    task_id,
    ...(found === undefined ? { accept_possible_double_charge: true } : { interaction_id: found.id }),
  });
  expect(answer).toMatchObject({ success: true });
  await waitFor(() => expect(runsOf(world, query).filter(isOpen)).toEqual([]), SOON);
  server.closeStdin();
  await server.ended;
}

/** The next occurrence waits while the outcome of a start is unknown. */
async function expectBlocked(world: KillWorld, query: string, expected: number): Promise<void> {
  const [before] = world.query<{ schedule_id: string; next_at: number }>(
    "select * from schedules where input_json like '%heat pumps%'",
  );
  const { schedule_id: id = "", next_at: at = 0 } = before ?? {};
  world.query("update schedules set next_at = 1 where schedule_id = ?", id);
  const worker = world.begin({ args: ["worker"] });
  const problem = (): unknown[] => world.query("select problem, next_at from schedules where next_at = 1");
  await waitFor(() => expect(problem()).toEqual([{ problem: "unfinished", next_at: 1 }]), SOON);
  worker.kill();
  await worker.ended;
  expect(runsOf(world, query)).toHaveLength(expected);
  world.query("update schedules set next_at = ? where schedule_id = ?", at, id);
}

/** The runs that stand for an occurrence: one that the user sent again takes the place of the one before. */
const occurrencesOf = (world: KillWorld, query: string): number =>
  runsOf(world, query).filter(
    ({ task_id }) => world.query("select 1 from research_tasks where carries_on = ?", task_id).length === 0,
  ).length;

test(
  "each occurrence of a schedule is started and paid for once, whenever a worker is killed (I17)",
  { timeout: 600_000 },
  async () => {
    const interactions = { speed: 1_000, usage_after_ms: 0, duration_ms: 60_000 };
    const world = await openKillWorld({
      scenario: { name: "schedules", interactions },
      env: { GEMINI_SEARCH_TOOLS: "all" },
    });
    onTestFinished(world.close);
    await prepare(world);
    const server = world.begin();
    const rule = { action: "create", every: "day", time_zone: "Europe/Berlin", budget_usd: 1_000 };
    for (const schedule of [{ query: RESEARCH }, { query: SEARCH, depth: "search" }])
      expect(await server.call("schedule_research", { ...rule, ...schedule })).toMatchObject({ success: true });
    server.closeStdin();
    await server.ended;

    for (const point of SCHEDULE_KILL_POINTS) {
      const query = point === "after-search-claim" ? SEARCH : RESEARCH;
      const before = runsOf(world, query).length;
      makeDue(world, query);
      const worker = world.begin({ args: ["worker"], failpoint: `${point}:1` });
      expect({ point, ...(await worker.ended) }).toMatchObject({ killed: true });
      await settle(world, query, before + 1);
    }
    const named = SCHEDULE_KILL_POINTS.length - 1;
    expect(occurrencesOf(world, RESEARCH)).toBe(named);
    // The search of the killed worker is not paid for a second time: it has failed, as any other would have.
    expect(runsOf(world, SEARCH)).toMatchObject([{ status: "failed" }]);

    for (let round = 0; round < RANDOM_ROUNDS; round += 1) {
      const before = runsOf(world, RESEARCH).length;
      makeDue(world, RESEARCH);
      const workers = [1, 2, 3].map(() => world.begin({ args: ["worker"] }));
      await Promise.all(
        workers.map(async (worker) => {
          await sleep(150 + world.random() * 900);
          worker.kill();
          await worker.ended;
        }),
      );
      await settle(world, RESEARCH, before + 1);
    }
    await drain(world);
    expect(occurrencesOf(world, RESEARCH)).toBe(named + RANDOM_ROUNDS);
    const ids = new Set(runsOf(world, RESEARCH).map(({ task_id }) => task_id));
    const paid = world.gemini.ledger.acceptedStarts().filter(({ labels }) => ids.has(labels["run"] ?? ""));
    expect(paid).toHaveLength(named + RANDOM_ROUNDS);
    expect(judge(world).broken).toEqual([]);
  },
);
