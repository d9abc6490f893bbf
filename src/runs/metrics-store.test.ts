import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { dayNumber } from "./ledger/ledger-store.ts";
import { readMetrics } from "./metrics-store.ts";

const NOW = 1_000_000;

test("runs are counted by state and kind, due polls with the age of the oldest, money as the ledger has it (A9, P7)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: "a", next_poll_at: NOW - 7_000 });
  // 0 means that a caller waits for the run; it has not been due since 1970.
  await insertRun(db, { task_id: "b", next_poll_at: 0 });
  await insertRun(db, { task_id: "c", next_poll_at: NOW + 1 });
  await insertRun(db, { task_id: "d", kind: "search", status: "completed", next_poll_at: null });
  // It has ended, and is polled for its usage now and then.
  await insertRun(db, { task_id: "e", kind: "agent", status: "failed", next_poll_at: NOW - 600_000 });
  const entry = { owner: "local", kind: "research" as const, day: dayNumber(NOW), created_at: NOW };
  const amounts = { state: "settled" as const, reserved_micros: 9, micros: 1_540_000 };
  for (const [entry_id, more] of [
    ["one", {}],
    ["two", {}],
    ["three", { state: "released" as const, micros: 0 }],
  ] as const)
    await db
      .insertInto("ledger")
      .values({ ...entry, ...amounts, entry_id, ...more })
      .execute();
  const lines = (await readMetrics(db, { now: NOW, calls: new Map([['operation="search",outcome="ok"', 3]]) }))
    .trimEnd()
    .split("\n");
  expect(lines.filter((line) => !line.startsWith("#")).toSorted()).toEqual([
    'gemini_search_calls_total{operation="search",outcome="ok"} 3',
    "gemini_search_oldest_due_seconds 7",
    "gemini_search_polls_per_second 0",
    "gemini_search_runs_due 2",
    "gemini_search_runs_late 0",
    'gemini_search_runs{status="completed",kind="search"} 1',
    'gemini_search_runs{status="failed",kind="agent"} 1',
    'gemini_search_runs{status="running_async",kind="agent"} 3',
    'gemini_search_spent_micro_dollars{state="settled",kind="research"} 3080000',
    'gemini_search_workers{state="responding"} 0',
    'gemini_search_workers{state="silent"} 0',
  ]);
  expect(lines).toContain("# TYPE gemini_search_calls_total counter");
});
