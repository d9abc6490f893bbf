/** Budgets on both databases, with concurrent starts: what counts, when a start warns, and when it is refused. */

import { expect, test } from "vitest";
import { onPostgres, setClock } from "../../../test/kit/store/databases.ts";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";
import { ERROR, INTENT } from "../../../test/kit/store/stored-start.ts";
import { type Budgets, exceededBy } from "../../costs/budget.ts";
import { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { saveInteractionId } from "../interaction-store.ts";
import { recordLateUsage } from "../poll/poll-result-store.ts";
import { type CheckCost, START_LIMITS } from "../start/limits-store.ts";
import { commitIntent, recordStartFailure } from "../start/start-store.ts";
import { readBudgets } from "./budget-store.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-11-19T23:00:00Z");
const estimate = { usd: { min: 0.5, likely: 1, max: 1.5 } };

const below: CheckCost = (states) => {
  if (exceededBy(states, 1.5, "hard") !== undefined) throw new AppError({ code: "BUDGET_EXCEEDED", message: "No." });
  return false;
};

interface Start {
  owner?: string;
  budgets?: Budgets;
}

const start = (db: Database, joinKey: string, { owner = "ada", budgets = {} }: Start = {}) =>
  commitIntent(
    db,
    { ...INTENT, owner, joinKey, estimate, now: NOW },
    { join: true, checkCost: below, limits: { ...START_LIMITS, budgets } },
  );

const used = async (db: Database, budgets: Budgets, { owner = "ada", now = NOW } = {}) =>
  (await readBudgets(db, budgets, { owner, now })).map(({ name, usedUsd, renewsAt }) => [name, usedUsd, renewsAt]);

test("of twenty concurrent starts only those within a hard budget are stored, and other owners have their own (T28)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const budgets = { BUDGET_OWNER_DAY_USD: { soft: 5, hard: 5 } };
  const starts = Array.from({ length: 20 }, (_, n) => start(db, `question ${n}`, { budgets }));
  const settled = await Promise.allSettled(starts);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  const renewsAt = Date.parse("2026-11-20T00:00:00Z");
  expect(await used(db, budgets)).toEqual([["BUDGET_OWNER_DAY_USD", 4.5, renewsAt]]);
  await start(db, "question 0", { owner: "grace", budgets });
  expect(await used(db, budgets, { owner: "grace" })).toEqual([["BUDGET_OWNER_DAY_USD", 1.5, renewsAt]]);
  // One of them costs less than was reserved, and there is room again.
  const [first] = settled.flatMap((one) =>
    one.status === "fulfilled" && one.value.kind === "intended" ? [one.value] : [],
  );
  await saveInteractionId(db, { attemptId: first?.attemptId ?? "", interactionId: "v1_a", now: NOW });
  const cost = { usd: 0.5, incomplete: false, estimated: false };
  const usage = { tokens: { input: 1, output: 1 }, cost, now: NOW };
  await recordLateUsage(db, { taskId: first?.taskId ?? "", interactionId: "v1_a" }, usage);
  expect(await start(db, "one more", { budgets })).toMatchObject({ kind: "intended" });
});

test("a joined start and one that cost nothing do not count, and a day ends at midnight, UTC (T28)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const budgets = { BUDGET_DAY_USD: { soft: 20 }, BUDGET_MONTH_USD: { soft: 100 } };
  await start(db, "first");
  expect(await start(db, "first", { budgets })).toMatchObject({ kind: "joined" });
  const lost = await start(db, "lost");
  const refused = await start(db, "refused");
  for (const [intent, to] of [
    [lost, "start_unknown"],
    [refused, "failed"],
  ] as const)
    if (intent.kind === "intended") await recordStartFailure(db, { ...intent, to, error: ERROR, now: NOW });
  const usedAt = async (now: number) => {
    if (onPostgres) await setClock(db, now);
    return (await used(db, budgets, { now })).map(([, usd]) => usd);
  };
  expect([await usedAt(NOW), await usedAt(NOW + 3_599_000)]).toEqual([
    [3, 3],
    [3, 3],
  ]);
  expect([await usedAt(NOW + 3_600_000), await usedAt(NOW + 12 * DAY_MS)]).toEqual([
    [0, 3],
    [0, 0],
  ]);
});

test("each threshold warns once in its period: in the run, its events and a notification (T28, O1)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const budgets = { BUDGET_DAY_USD: { soft: 6 } };
  const notices: unknown[] = [];
  for (const n of [1, 2, 3, 4, 5]) {
    const outcome = await start(db, `question ${n}`, { budgets });
    notices.push(outcome.kind === "intended" ? outcome.run.options["notice"] : outcome.kind);
  }
  expect(notices).toEqual([
    undefined,
    "With this, 50 % of today's budget may be used: $3 of $6. It renews at 2026-11-20 00:00 UTC.",
    undefined,
    "With this, 100 % of today's budget may be used: $6 of $6. It renews at 2026-11-20 00:00 UTC.",
    undefined,
  ]);
  const events = await db.selectFrom("research_events").select(["kind", "seq"]).execute();
  expect(events).toEqual([
    { kind: "budget", seq: 1 },
    { kind: "budget", seq: 1 },
  ]);
  const outbox = await db.selectFrom("notification_outbox").select(["kind", "payload_json"]).execute();
  expect(outbox).toHaveLength(2);
  expect(outbox[0]?.payload_json).toContain("50 % of today's budget");
});
