/** A short cut of the lab's figures, concurrency and shutdown, judged by what came of it. */

import { describe, expect, test } from "vitest";
import { startTwins, takeOver, lookTogether } from "./concurrency.ts";
import { endUnderFaults } from "./ends.ts";
import { callForFree } from "./free-calls.ts";
import { tellModesApart } from "./modes.ts";
import { countNotices } from "./notices.ts";
import { saveMany } from "./saves.ts";
import { hangUp, leaveServe, leaveStdio } from "./shutdown.ts";

const seed = 20_261_115;

describe("figures", () => {
  test("R1 what is told, what is stored and what Google says agree on sync and async", async () => {
    const { sync, async, broken } = await tellModesApart({ starts: 20, seed, windowMs: 6_000 });
    expect(broken).toEqual([]);
    expect(Math.min(sync, async)).toBeGreaterThan(0);
  });

  test("R2 every end is shown once, with five processes that could", async () => {
    const { due, shown, twice, broken } = await countNotices({ runs: 15, seed });
    expect(broken).toEqual([]);
    expect([due, shown, twice]).toEqual([15, 15, 0]);
  });

  test("R3 runs end in time although Google refuses, breaks off and limits, and servers come and go", async () => {
    const { runs, ended, unknown, faults } = await endUnderFaults({ runs: 8, seed, longestMinutes: 15 });
    // A server that is killed in a start takes it along; that is the kills' business.
    expect(ended + unknown).toBe(runs);
    expect(ended).toBeGreaterThan(0);
    expect(Object.keys(faults)).toEqual(expect.arrayContaining(["get http-429", "get reset-before", "get html-200"]));
  });

  test("R4 100 saves from four processes at once are 100 whole files", async () => {
    const verdict = await saveMany({ saves: 100, seed });
    expect(verdict).toEqual({ saved: 100, whole: 100, overwritten: 0, missing: 0, broken: [] });
  });

  test("R5 status, results, cancel of a finished run, save, list and estimate ask nobody", async () => {
    const { calls, requests, tokens, broken } = await callForFree({ each: 10, seed });
    expect({ calls, requests, tokens, broken }).toEqual({ calls: 60, requests: 0, tokens: 0, broken: [] });
  });
});

describe("several processes", () => {
  test("I9 a hundred identical starts at once from eight processes are one paid start", async () => {
    const verdict = await startTwins({ rounds: 1, processes: 8, seed });
    expect(verdict).toEqual({ rounds: 1, paid: 1, astray: 0, refused: [] });
  });

  test("I7 they keep the interval together, and nobody hears of a busy database", async () => {
    const pace = await lookTogether({ runs: 12, processes: 4, intervalMs: 500, ms: 5_000, seed });
    expect(pace.busy).toEqual([]);
    expect(pace.mostOverAllowed).toBeLessThanOrEqual(1);
    expect(pace.looks).toBeGreaterThan(12);
  });

  test("P2 a run whose process died while it looked is looked at by another", async () => {
    expect(await takeOver({ times: 1, seed })).toHaveLength(1);
  });
});

describe("leaving", () => {
  test("A8 at a random moment, over stdio, in each way: in order, nothing left", async () => {
    const { broken, leaves } = await leaveStdio({ times: 15, lanes: 2, seed });
    expect({ broken, leaves }).toEqual({ broken: [], leaves: 15 });
  });

  test("A8 at a random moment, as a service: in order, nothing left", async () => {
    const { broken, leaves } = await leaveServe({ times: 3, lanes: 1, seed });
    expect({ broken, leaves }).toEqual({ broken: [], leaves: 3 });
  });

  test("A8 G8 a client that hangs up in a call: the paid run goes on, a search is stored", async () => {
    const { broken, leaves } = await hangUp({ times: 20, lanes: 4, seed });
    expect({ broken, leaves }).toEqual({ broken: [], leaves: 20 });
  });
});
