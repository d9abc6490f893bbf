/** Judgements are paid for, so they are kept as long as they apply. */

import { expect, test } from "vitest";
import { HOUR_MS, NOW, openRun, openWorld, pairs } from "../../../test/kit/store/cited-run.ts";
import { findResult } from "../../runs/result-store.ts";
import { findPageChecks } from "../evidence-store.ts";
import { type Judge, planVerification, type Verification, verifyCitations } from "../verify.ts";

const VILLAGE = "https://b.example/village";

/** Judges all claims, or none while it has no time. */
function createTestJudge() {
  const asked: number[] = [];
  const state = { hasTime: true };
  const judge: Judge = {
    model: "m",
    estimateUsd: () => 0,
    judge: async ({ source, claims }) => {
      if (!state.hasTime) return { evidence: [], isComplete: false };
      asked.push(...claims.map(({ n }) => n));
      const evidence = claims.map(
        ({ n }) => ({ claim: n, source, kind: "page", verdict: "weak", judged: true }) as const,
      );
      return { evidence, isComplete: true };
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
  expect(await pairs(db)).toContain("2 not_confirmed");
  state.hasTime = true;
  expect(await verify()).toBe(0);
  expect(await pairs(db)).toContain("2 weak");
  expect(await verify()).toBe(0);
  expect(asked).toEqual([2]);
});

test("a judgement is kept and not paid for again until the page has another text (W3)", async () => {
  const db = await openRun();
  const { judge, asked } = createTestJudge();
  const { verify, deps, pages, later, fetched } = openWorld(db, { judge });
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
  expect(await pairs(db)).toContain("2 weak");
  deps.judge = judge;
  pages[VILLAGE] = village;
  await verify(again);
  expect(asked).toEqual([2]);
  expect(await pairs(db)).toContain("2 weak");
  pages[VILLAGE] = { ...village, hash: "cd".repeat(32) };
  await verify(again);
  expect(asked).toEqual([2, 2]);
  // A page that was checked after the plan is not fetched again.
  const result = await findResult(db, "run");
  if (result === undefined) throw new Error("There is no report.");
  const limits = { maxPages: 100, maxMs: 60_000, signal: new AbortController().signal, onProgress: () => {} };
  const wanted: Verification = { taskId: "run", result, ...again, ...limits };
  const plan = await planVerification(deps, wanted);
  later(1_000);
  await verify(again);
  const before = fetched.length;
  expect(await verifyCitations(deps, wanted, plan)).toBe(0);
  expect(fetched).toHaveLength(before);
});
