/** Judgements are paid for, so they are kept as long as they apply. */

import { expect, test } from "vitest";
import { HOUR_MS, NOW, openRun, openWorld, pairs } from "../../../test/kit/store/cited-run.ts";
import { thisProcess } from "../../platform/process-identity.ts";
import { hostHere } from "../../store/dialect.ts";
import { registerProcess } from "../../store/processes.ts";
import { findPageChecks } from "../evidence-store.ts";
import { type Judge } from "./judge-port.ts";

const VILLAGE = "https://b.example/village";

/** Finds all claims likely; none while it has no time or refuses. */
function createTestJudge() {
  const asked: number[] = [];
  const state = { hasTime: true, canJudge: true, refuses: false, probability: 0.9 as number | undefined };
  const judge: Judge = {
    canJudge: () => state.canJudge,
    judge: async ({ claims }) => {
      const none = { judged: new Map<number, number>(), unjudged: new Map<string, number>() };
      if (!state.hasTime) return { ...none, isComplete: false, isRefused: false };
      if (state.refuses) return { ...none, isComplete: true, isRefused: true };
      asked.push(...claims.map(({ n }) => n));
      return {
        judged: new Map(claims.map(({ n }) => [n, state.probability])),
        unjudged: new Map(),
        isComplete: true,
        isRefused: false,
      };
    },
  };
  return { judge, asked, state };
}

test("claims that were not judged in time keep the text's verdict, and the next call judges them (W3)", async () => {
  const db = await openRun();
  const { judge, asked, state } = createTestJudge();
  const { verify } = openWorld(db, { judge });
  state.hasTime = false;
  expect(await verify()).toBe(1);
  expect(await pairs(db)).toContain("2 not_found");
  state.hasTime = true;
  expect(await verify()).toBe(0);
  expect(await pairs(db)).toContain("2 likely");
  expect(await verify()).toBe(0);
  expect(asked).toEqual([2]);
});

test("a judgement is kept and not paid for again until the page has another text (W3)", async () => {
  const db = await openRun();
  const { judge, asked } = createTestJudge();
  const { verify, deps, pages, later } = openWorld(db, { judge });
  await verify();
  expect(asked).toEqual([2]);
  const again = { numbers: [2], again: true };
  // The same text, with and without a judge; then no answer; then the same text.
  await verify(again);
  delete deps.judge;
  await verify(again);
  const { [VILLAGE]: village = {} } = pages;
  delete pages[VILLAGE];
  later(HOUR_MS);
  await verify(again);
  expect((await findPageChecks(db, "run")).get(2)).toMatchObject({ outcome: "unreachable", checkedAt: NOW + HOUR_MS });
  expect(await pairs(db)).toContain("2 likely");
  deps.judge = judge;
  pages[VILLAGE] = village;
  await verify(again);
  expect(asked).toEqual([2]);
  expect(await pairs(db)).toContain("2 likely");
  pages[VILLAGE] = { ...village, hash: "cd".repeat(32) };
  await verify(again);
  expect(asked).toEqual([2, 2]);
});

test("two checks of one run at the same time ask the judge once, and one that is cancelled waits for nobody (W3)", async () => {
  const db = await openRun();
  for (const processId of ["p", "other"])
    await registerProcess(db, { ...thisProcess(), processId, host: hostHere(db) }, NOW);
  const { judge, asked } = createTestJudge();
  const { verify, fetched } = openWorld(db, { judge });
  const other = openWorld(db, { judge, processId: "other" });
  const cancelled = AbortSignal.abort(new Error("cancelled"));
  const [first, waiter, last] = await Promise.allSettled([verify(), verify({ signal: cancelled }), other.verify()]);
  expect([first, last]).toEqual([0, 0].map((value) => ({ status: "fulfilled", value })));
  expect(waiter).toMatchObject({ status: "rejected", reason: { message: "cancelled" } });
  expect(asked).toEqual([2]);
  const all = [...fetched, ...other.fetched];
  expect(all).toHaveLength(new Set(all).size);
  expect(await verify()).toBe(0);
});

test("a check of a report waits for another one of it, and leaves its pages if that takes too long (W3)", async () => {
  const db = await openRun();
  await openRun("second", db);
  const { verify, fetched } = openWorld(db);
  const lease = { lease_id: "s", pool: "citations:run", process_id: "p", lease_until: Date.now() + HOUR_MS };
  await db.insertInto("leases").values(lease).execute();
  const waits: string[] = [];
  const onWait = (): void => void waits.push("waits");
  expect(await verify({ maxMs: 300, onWait })).toBe(4);
  expect([waits, fetched]).toEqual([["waits"], []]);
  expect(await verify({ taskId: "second", onWait })).toBe(0);
  expect(waits).toEqual(["waits"]);
  await db.deleteFrom("leases").execute();
  expect(await verify()).toBe(0);
});

test("pages that were checked without a judge are judged by the next check that has one, and by none that cannot (W3)", async () => {
  const db = await openRun();
  const { judge, asked, state } = createTestJudge();
  const { verify, deps, fetched } = openWorld(db);
  await verify();
  const before = fetched.length;
  deps.judge = judge;
  state.canJudge = false;
  expect(await verify()).toBe(0);
  expect(fetched).toHaveLength(before);
  state.canJudge = true;
  expect(await verify()).toBe(0);
  // Only the page whose text leaves a claim open.
  expect([asked, fetched.slice(before)]).toEqual([[2], [VILLAGE]]);
  expect(await verify()).toBe(0);
  expect(fetched).toHaveLength(before + 1);
});

test("what a judge has refused is offered again after an hour, not on every call of a new process (W3)", async () => {
  const db = await openRun();
  const { judge, asked, state } = createTestJudge();
  const { verify, fetched, later } = openWorld(db, { judge });
  state.refuses = true;
  await verify();
  const before = fetched.length;
  // Its successor knows nothing of the refusal.
  state.refuses = false;
  expect(await verify()).toBe(0);
  expect([asked, fetched.slice(before)]).toEqual([[], []]);
  later(HOUR_MS + 1);
  await verify();
  expect([asked, fetched.slice(before)]).toEqual([[2], [VILLAGE]]);
  await verify();
  expect(fetched).toHaveLength(before + 1);
});

test("a page that cannot be judged is not asked about again, and its claims keep their verdict (W3)", async () => {
  const db = await openRun();
  const { judge, asked, state } = createTestJudge();
  const { verify } = openWorld(db, { judge });
  state.probability = undefined;
  await verify();
  await verify({ numbers: [2], again: true });
  expect(asked).toEqual([2]);
  expect(await pairs(db)).toContain("2 not_found");
});
