/** The sum of unconfirmed starts on both databases, with concurrent starts. */

import { expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import { INTENT, NOW } from "../../../test/kit/store/stored-start.ts";
import { onPostgres, setClock } from "../../../test/kit/store/databases.ts";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";
import type { Database } from "../../store/database.ts";
import { commitIntent, recordStartFailure } from "./start-store.ts";
import { type CheckCost, sumUnconfirmed } from "./limits-store.ts";

const DAY_MS = 86_400_000;
const LIMIT = 5;

const below: CheckCost = (sum) => {
  if (sum + 1.5 > LIMIT) throw new AppError({ code: "CONFIRMATION_NEEDED", message: `It is ${sum}.` });
  return 1.5;
};

const start = (db: Database, joinKey: string, { owner = "ada", checkCost = below, now = NOW } = {}) =>
  commitIntent(db, { ...INTENT, owner, joinKey, now }, { join: true, checkCost });

test("of twenty concurrent starts only those within the limit are stored, and other owners have their own sum (T28)", async () => {
  const db = await openDatabase();
  const starts = Array.from({ length: 20 }, (_, n) => start(db, `question ${n}`));
  const settled = await Promise.allSettled(starts);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(await sumUnconfirmed(db, { owner: "ada", now: NOW })).toBe(4.5);
  await start(db, "question 0", { owner: "grace" });
  expect(await sumUnconfirmed(db, { owner: "grace", now: NOW })).toBe(1.5);
});

test("a start that joins another, was confirmed, cost nothing or is a day old does not count (T28)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const sum = (now = NOW): Promise<number> => sumUnconfirmed(db, { owner: "ada", now });
  expect(await sum()).toBe(0);
  await start(db, "first");
  expect(await start(db, "first")).toMatchObject({ kind: "joined" });
  await start(db, "confirmed", { checkCost: () => undefined });
  const lost = await start(db, "lost");
  const refused = await start(db, "refused");
  const error = { code: "GEMINI_UNAVAILABLE", message: "No." };
  for (const [intent, to] of [
    [lost, "start_unknown"],
    [refused, "failed"],
  ] as const)
    if (intent.kind === "intended") await recordStartFailure(db, { ...intent, to, error, now: NOW });
  const sumAt = async (at: number): Promise<number> => {
    if (onPostgres) await setClock(db, at);
    return sum(at);
  };
  expect([await sum(), await sumAt(NOW + DAY_MS - 1), await sumAt(NOW + DAY_MS)]).toEqual([3, 3, 0]);
});
