/** A short version of the fuzz experiment: every parser of untrusted text with damaged, hostile and random input. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputsFor } from "./inputs.ts";
import { TARGETS } from "./targets.ts";

const RUNS = 1_000;
/** Fixed, so that the inputs are the same in every run; the lab uses others. */
const SEED = 20_261_116;

describe.each(TARGETS.map((target) => [target.name, target] as const))("%s", (_name, target) => {
  test("keeps its promises on seeds, damaged seeds and random text", async () => {
    const { check, close } = await target.open();
    const outcomes = new Set<string>();
    try {
      for (const seed of target.seeds) outcomes.add(await check(seed));
      await fc.assert(
        fc.asyncProperty(inputsFor(target), async (input) => void outcomes.add(await check(input))),
        { numRuns: RUNS, seed: SEED },
      );
    } finally {
      await close?.();
    }
    // Inputs with only one kind of outcome would test nothing.
    expect(outcomes.size).toBeGreaterThan(2);
  });
});
