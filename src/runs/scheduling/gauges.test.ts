/** The telemetry gauges on a real database. */

import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { createRunGauges } from "./fleet-status-store.ts";

const NOW = 1_000_000;

test("runs are counted by state and kind, and due polls with the age of the oldest", async () => {
  const db = await openDatabase();
  const gauges = createRunGauges(db, () => NOW);
  expect(await gauges()).toMatchObject({ runs: [], due: 0, late: 0, oldestDueAgeMs: 0 });
  await insertRun(db, { task_id: "a", next_poll_at: NOW - 7_000 });
  // 0 means that a caller waits for the run; it has not been due since 1970.
  await insertRun(db, { task_id: "b", next_poll_at: 0 });
  await insertRun(db, { task_id: "c", next_poll_at: NOW + 1 });
  await insertRun(db, { task_id: "d", kind: "search", status: "completed", next_poll_at: null });
  const { runs, ...due } = await createRunGauges(db, () => NOW)();
  expect(runs).toHaveLength(2);
  expect(runs).toContainEqual({ status: "running_async", kind: "agent", count: 3 });
  expect(runs).toContainEqual({ status: "completed", kind: "search", count: 1 });
  expect(due).toEqual({ due: 2, late: 0, oldestDueAgeMs: 7_000, workers: { responding: 0, silent: 0 } });
});

test("gauges are cached for two hundred times as long as reading them took", async () => {
  const db = await openDatabase();
  let time = 0;
  let pace = 10;
  const gauges = createRunGauges(
    db,
    () => NOW,
    () => (time += pace),
  );
  await gauges();
  pace = 0;
  await insertRun(db, { task_id: "a", next_poll_at: NOW });
  expect(await gauges()).toMatchObject({ runs: [], due: 0 });
  time += 4_000;
  expect(await gauges()).toMatchObject({ runs: [{ count: 1 }], due: 1 });
});
