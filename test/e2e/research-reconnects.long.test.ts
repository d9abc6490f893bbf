/**
 * Progress streams that are cut after every event, through the built server: reopening them respects the rate limit.
 */

import { expect, test } from "vitest";
import { openResearch, startRun } from "../kit/server/research.ts";

const MAX_RPS = 5;
const WINDOW_MS = 10_000;
const RUNS = 6;

test.for(["end", "reset", "error-event", "unavailable"] as const)(
  "streams that are cut by `%s` after each event are opened within RESEARCH_MAX_RPS (S3)",
  { timeout: 60_000 },
  async (cut, context) => {
    // A complete run takes a minute, so there is always another event to send.
    const scene = await openResearch(context, { speed: 8, stream: [{ cut_after: 1, cut }] });
    const server = await scene.server({ env: { RESEARCH_MAX_RPS: String(MAX_RPS) } });
    const runs: string[] = [];
    for (let n = 0; n < RUNS; n += 1) runs.push(await startRun(server, `Question ${n}`));
    const from = Date.now();
    const watching = runs.map((task_id) => server.call("check_research_status", { task_id, wait_seconds: 10 }));
    await Promise.all([...watching, new Promise((done) => setTimeout(done, WINDOW_MS))]);
    const traffic = scene.gemini.ledger.acceptedStarts().map(({ id }) => scene.gemini.ledger.trafficOf(id));
    const inWindow = (times: readonly number[]): number[] => times.filter((at) => at >= from && at < from + WINDOW_MS);
    const streams = traffic.flatMap((one) => inWindow(one.streams));
    const requests = [...streams, ...traffic.flatMap((one) => inWindow(one.polls))].toSorted((a, b) => a - b);
    // Streams were reopened, or this proves nothing.
    expect(streams.length).toBeGreaterThan(RUNS);
    expect(requests.length).toBeLessThanOrEqual((MAX_RPS * WINDOW_MS) / 1_000 + MAX_RPS);
    const busiest = Math.max(...requests.map((at, n) => requests.slice(n).filter((one) => one < at + 1_000).length));
    expect(busiest).toBeLessThanOrEqual(2 * MAX_RPS);
  },
);
