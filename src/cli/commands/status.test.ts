import { expect, test } from "vitest";
import type { FleetStatus } from "../../runs/scheduling/fleet-status-store.ts";
import { createPollCounts, sumPolls } from "../../runs/poll/poll-counts.ts";
import { problemsOf } from "./status.ts";

const MINUTE_MS = 60_000;
const NOW = 100 * MINUTE_MS + 30_000;

const WORKER = {
  host: "a",
  pid: 1,
  version: "1",
  startedAt: 0,
  lastHeartbeatAt: NOW,
  responds: true,
  key: "k",
  polls: "[]",
};
const RUNS = { inProgress: 5, due: 1, late: 0, oldestDueMs: 0, oldest: undefined, withoutKey: 0 };
const HEALTHY: FleetStatus = {
  now: NOW,
  workers: [WORKER],
  runs: RUNS,
  schedules: 0,
  polls: { polls: 100, errors: {}, seconds: 60 },
  queues: [],
};

test("polls of the last five minutes are counted by outcome, for all processes together (P7)", () => {
  let now = NOW - 10 * MINUTE_MS;
  const counts = createPollCounts({ now: () => now });
  counts.add("answered");
  now = NOW - MINUTE_MS;
  counts.add("rate_limited");
  counts.add("answered");
  now = NOW;
  counts.add("database");
  const stored = JSON.stringify(counts.lastMinutes());
  expect(sumPolls([stored, stored], { now, since: 0 })).toEqual({
    polls: 4,
    errors: { rate_limited: 2, database: 2 },
    seconds: 270,
  });
  expect(sumPolls([stored], { now, since: now - 20_000 }).seconds).toBe(20);
  now += 10 * MINUTE_MS;
  expect(sumPolls([stored], { now, since: 0 })).toMatchObject({ polls: 0, errors: {} });
});

test("without runs to poll the fleet is healthy without a worker, otherwise it is not (P7)", () => {
  expect(problemsOf(HEALTHY)).toEqual([]);
  const gone = { ...HEALTHY, workers: [{ ...WORKER, responds: false }] };
  expect(problemsOf(gone)).toEqual([
    { message: "No worker is running, and 5 runs are in progress.", remedy: "Start one: gemini-search-mcp worker" },
  ]);
  expect(problemsOf({ ...gone, runs: { ...RUNS, inProgress: 0 } })).toEqual([]);
});

test("a majority of failing polls is a problem before any run is late (P7)", () => {
  const failing = (polls: number, rate_limited: number) =>
    problemsOf({ ...HEALTHY, polls: { polls, errors: { rate_limited }, seconds: 60 } });
  expect(failing(10, 5)).toEqual([
    {
      message: "5 of the last 10 polls failed.",
      remedy: "Google refuses polls (429): lower RESEARCH_MAX_RPS, or raise the key's quota.",
    },
  ]);
  expect([...failing(10, 4), ...failing(2, 2)]).toEqual([]);
});

test("late runs are a problem, with a remedy for the most frequent cause (P7)", () => {
  const late = { ...HEALTHY, runs: { ...RUNS, late: 2, oldestDueMs: 90_400 } };
  const remedyAt = (errors: FleetStatus["polls"]["errors"]): string | undefined =>
    problemsOf({ ...late, polls: { ...HEALTHY.polls, errors } })[0]?.remedy;
  expect(problemsOf(late)[0]?.message).toBe("2 runs are late, by up to 90 s.");
  expect(remedyAt({})).toContain("more workers");
  expect(remedyAt({ server_error: 2 })).toContain("more workers");
  expect(remedyAt({ server_error: 20, rate_limited: 60 })).toContain("429");
  expect(remedyAt({ database: 30 })).toContain("database");
});

test("runs without a worker for their key are a problem of their own (P7)", () => {
  expect(problemsOf({ ...HEALTHY, runs: { ...RUNS, withoutKey: 1 } })).toEqual([
    {
      message: "No worker has the key of 1 run.",
      remedy: "Start a worker with the GEMINI_API_KEY that started them.",
    },
  ]);
});
