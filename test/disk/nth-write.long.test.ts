import { expect, test } from "vitest";
import { playEveryWrite } from "./nth-write.ts";

const timeout = 240_000;

test.for([
  { name: "alone", count: 1, rolledBack: false },
  { name: "and all that follow until there is room", count: Number.MAX_SAFE_INTEGER, rolledBack: true },
])(
  "if the n-th write fails, for every n, there is at most one start and nothing is lost: $name (P5, N3)",
  { timeout },
  async (faults) => {
    const { broken, writes, refusedStarts } = await playEveryWrite(faults);
    expect(broken).toEqual([]);
    // Otherwise no refused start was judged at all.
    expect(refusedStarts).toBeGreaterThan(0);
    expect(writes).toBeGreaterThan(refusedStarts);
  },
);
