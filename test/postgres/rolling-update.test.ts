/** Three workers are replaced one after the other, as in an update: no run waits long, and nothing is lost. */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RunningCommand } from "../kit/server/command.ts";
import { openResearch, type ResearchScene, SLOW, startRun } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const RUNS = 12;
const POLL_EVERY_MS = 1_000;
/** So slow that a worker has polls in flight when it receives SIGTERM. */
const ANSWERS = { ...SLOW, get: [{ latency_ms: 600 }] };
/** Much less than 30 s: polls that a worker did not release would be retried by pg-boss only after 20 s. */
const MAX_GAP_MS = 9_000;
const BETWEEN_MS = 3_000;

/** The poll times of each run. */
const polls = ({ gemini: { ledger } }: ResearchScene): number[][] =>
  ledger.acceptedStarts().map(({ id }) => ledger.trafficOf(id).polls);

const maxGap = (times: number[], until: number): number =>
  Math.max(...[...times.slice(1), until].map((at, index) => at - (times[index] ?? at)));

test("a rolling restart of three workers leaves no run unpolled for long, and each exits in time (P2, P7, A8)", async (context) => {
  const scene = await openResearch(context, ANSWERS);
  const env = { RESEARCH_POLL_INTERVAL_MS: String(POLL_EVERY_MS) };
  const server = await scene.server({ env: { ...env, RESEARCH_MAX_RPS: "0" } });
  const start = (): RunningCommand => scene.startCommand(["worker"], { env });
  const workers = [start(), start(), start()];
  for (let n = 1; n <= RUNS; n += 1) await startRun(server, `Question ${n} ${randomUUID()}?`);
  await waitFor(() => expect(polls(scene).filter((times) => times.length > 0)).toHaveLength(RUNS), {
    timeout: 30_000,
    interval: 200,
  });
  for (const worker of workers) {
    worker.child.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
    start();
    await sleep(BETWEEN_MS);
  }
  await sleep(BETWEEN_MS);
  const gaps = polls(scene).map((times) => maxGap(times, Date.now()));
  expect(gaps).toHaveLength(RUNS);
  expect(Math.max(...gaps)).toBeLessThan(MAX_GAP_MS);
  // Each run is still polled, by one poll at a time.
  const counts = polls(scene).map((times) => times.length);
  expect(Math.min(...counts)).toBeGreaterThan(5);
  scene.gemini.skip(8 * 60_000);
  await waitFor(() => expect(scene.sql("select 1 from research_tasks where status = 'completed'")).toHaveLength(RUNS), {
    timeout: 30_000,
    interval: 250,
  });
  expect(scene.accepted()).toBe(RUNS);
});
