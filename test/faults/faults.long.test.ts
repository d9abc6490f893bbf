/** All 140 cells of the fault matrix: the expected status, text and number of paid requests. */

import { describe, expect, test } from "vitest";
import { FAULT_ROWS, type FaultRow, REQUESTS } from "./fault-cells.ts";
import { faultsOf, play } from "./fault-judge.ts";
import { until, untilFinished, WHOLE_MS, withScene } from "./fault-player.ts";

const cells = FAULT_ROWS.flatMap((row) =>
  REQUESTS.map((at) => ({
    row,
    at,
    name: `${row.form === undefined ? row.fault : `${row.fault} (${row.form})`} × ${at}`,
  })),
);

test("the matrix has 35 faults on 4 requests", () => {
  expect(new Set(cells.map(({ row, at }) => `${row.fault} × ${at}`)).size).toBe(35 * 4);
});

describe.concurrent(
  "each cell of the fault matrix ends as its table says (A6, I8, P3, P4, L1)",
  { timeout: 120_000 },
  () => {
    test.each(cells)("$name", async ({ row, at }) => {
      expect(faultsOf(await play(row, at), row.expected[at])).toEqual([]);
    });
  },
);

const rowOf = (fault: string): FaultRow => {
  const row = FAULT_ROWS.find((each) => each.fault === fault);
  if (row === undefined) throw new Error(`There is no fault "${fault}".`);
  return row;
};

describe.concurrent("outside the matrix", { timeout: 120_000 }, () => {
  test.each(["headers timeout", "503", "429", "401"])(
    "a run that Google finishes while every cancel meets `%s` is completed, with its report (L2)",
    async (fault) => {
      await withScene({ row: rowOf(fault), at: "cancel" }, async (scene) => {
        scene.runner.start();
        await until("a poll", () => scene.connection.sent.get > 0);
        expect(await scene.cancel()).toMatchObject({ status: "cancelled", confirmed: false });
        scene.gemini.skip(WHOLE_MS);
        await until("the report", async () => (await scene.run()).status === "completed");
        expect(await scene.report()).not.toBe("");
        expect([scene.posts(), scene.taken()]).toEqual([1, 1]);
      });
    },
  );

  test("a 404 that ends before the third poll ends no run (P3)", async () => {
    await withScene({ row: rowOf("404"), at: "get" }, async (scene) => {
      const get = [{ fault: "http-404" }, { fault: "http-404" }, {}] as const;
      scene.gemini.setScenario({ name: "two misses", interactions: { get: [...get] } });
      scene.runner.start();
      await until("polls that find it", () => scene.connection.sent.get > 3);
      expect(await scene.status()).toMatchObject({ status: "running_async", code: undefined });
      scene.gemini.skip(WHOLE_MS);
      expect((await untilFinished(scene)).status).toBe("completed");
    });
  });
});
