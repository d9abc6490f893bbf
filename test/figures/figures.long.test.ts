/** Short versions of the lab experiments figures, concurrency and shutdown. */

import { describe, expect, test } from "vitest";
import { startTwins, takeOver, pollTogether } from "./concurrency.ts";
import { endUnderFaults } from "./ends.ts";
import { makeFreeCalls } from "./free-calls.ts";
import { startAroundWindow } from "./modes.ts";
import { countNotices } from "./notices.ts";
import { saveMany } from "./saves.ts";
import { disconnectClients, shutDownServe, shutDownStdio } from "./shutdown.ts";

const seed = 20_261_115;

describe("service levels", () => {
  test("answer, store and Google's ledger agree on sync and async (R1)", async () => {
    const { sync, async, broken } = await startAroundWindow({ starts: 20, seed, windowMs: 6_000 });
    expect(broken).toEqual([]);
    expect(Math.min(sync, async)).toBeGreaterThan(0);
  });

  test("each end is announced once while five processes are open (R2)", async () => {
    const { due, shown, twice, broken } = await countNotices({ runs: 15, seed });
    expect(broken).toEqual([]);
    expect([due, shown, twice]).toEqual([15, 15, 0]);
  });

  test("runs end in time although Google refuses, disconnects and limits, and servers start and stop (R3)", async () => {
    const { runs, ended, unknown, faults } = await endUnderFaults({ runs: 8, seed, maxMinutes: 15 });
    // A start whose server is killed becomes unknown; the kill tests cover that.
    expect(ended + unknown).toBe(runs);
    expect(ended).toBeGreaterThan(0);
    expect(Object.keys(faults)).toEqual(expect.arrayContaining(["get http-429", "get reset-before", "get html-200"]));
  });

  test("100 saves from four processes at once are 100 whole files (R4)", async () => {
    const verdict = await saveMany({ saves: 100, seed });
    expect(verdict).toEqual({ saved: 100, whole: 100, overwritten: 0, missing: 0, broken: [] });
  });

  test("status, results, cancel of a finished run, save, list and estimate send no request (R5)", async () => {
    const { calls, requests, tokens, broken } = await makeFreeCalls({ each: 10, seed });
    expect({ calls, requests, tokens, broken }).toEqual({ calls: 60, requests: 0, tokens: 0, broken: [] });
  });
});

describe("several processes", () => {
  test("send one paid start for a hundred identical starts at once from eight of them (I9)", async () => {
    const verdict = await startTwins({ rounds: 1, processes: 8, seed });
    expect(verdict).toEqual({ rounds: 1, paid: 1, mismatched: 0, refused: [] });
  });

  test("keep the poll interval together, and no call fails because the database is busy (I7)", async () => {
    const pace = await pollTogether({ runs: 12, processes: 4, intervalMs: 500, ms: 5_000, seed });
    expect(pace.busy).toEqual([]);
    expect(pace.maxOverAllowed).toBeLessThanOrEqual(1);
    expect(pace.polls).toBeGreaterThan(12);
  });

  test("take over a run whose process died during a poll (P2)", async () => {
    expect(await takeOver({ times: 1, seed })).toHaveLength(1);
  });
});

describe("a shutdown", () => {
  test("at a random moment, over stdio, by each signal, exits with 0 and leaves nothing (A8)", async () => {
    const { broken, shutdowns } = await shutDownStdio({ times: 15, lanes: 2, seed });
    expect({ broken, shutdowns }).toEqual({ broken: [], shutdowns: 15 });
  });

  test("at a random moment, of an HTTP server, exits with 0 and leaves nothing (A8)", async () => {
    const { broken, shutdowns } = await shutDownServe({ times: 3, lanes: 1, seed });
    expect({ broken, shutdowns }).toEqual({ broken: [], shutdowns: 3 });
  });

  test("of the client during a call leaves the paid run running and a search stored (A8, G8)", async () => {
    const { broken, shutdowns } = await disconnectClients({ times: 20, lanes: 4, seed });
    expect({ broken, shutdowns }).toEqual({ broken: [], shutdowns: 20 });
  });
});
