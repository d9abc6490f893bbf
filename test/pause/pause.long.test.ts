import { test } from "vitest";
import { JUMPS, playJumps } from "./jumps.ts";
import { playPauses } from "./pauses.ts";

const timeout = 240_000;

test.concurrent(
  "pauses longer than the lease cause no double start and lose no id (I8, P2)",
  { timeout },
  async ({ expect }) => {
    const { broken, counts } = await playPauses({ pauses: 10, seed: 20_261_115, lanes: 2 });
    expect(broken).toEqual([]);
    // Two per pause, minus those that a suspended process withholds after it continues, which depends on the scheduler.
    expect(counts["paid_starts"]).toBeGreaterThanOrEqual(5);
    expect(counts["paid_starts"]).toBeLessThanOrEqual(21);
  },
);

test.concurrent(
  "when clocks jump by an hour or a day, both ways, the remaining processes end every run (I8, I11, P2)",
  { timeout },
  async ({ expect }) => {
    const { broken, counts } = await playJumps(JUMPS);
    expect(broken).toEqual([]);
    const { completed = 0, withheld = 0 } = counts;
    expect(completed + withheld).toBe(1 + 3 * JUMPS.length);
    expect(withheld).toBeLessThanOrEqual(JUMPS.length);
  },
);
