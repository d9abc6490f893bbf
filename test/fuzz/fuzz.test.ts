/** A short version of the fuzz experiment: every parser of untrusted text with damaged, hostile and random input. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRandom } from "../corpus/random.ts";
import { mutate } from "./mutate.ts";
import type { FuzzTarget } from "./target.ts";
import { TARGETS } from "./targets.ts";

const RUNS = 1_000;
/** Fixed, so that the inputs are the same in every run; the lab uses others. */
const SEED = 20_261_116;

/** Mutated seeds reach states that random text does not; random text finds unexpected ones. */
const inputFor = ({ seeds, words }: FuzzTarget): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.integer().map((seed) => mutate(createRandom(seed), { pool: seeds, words, maxLength: 4_000 })),
    },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join("")) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  );

describe.each(TARGETS.map((target) => [target.name, target] as const))("%s", (_name, target) => {
  test("keeps its promises on seeds, damaged seeds and random text", async () => {
    const { check, close } = await target.open();
    const outcomes = new Set<string>();
    try {
      for (const seed of target.seeds) outcomes.add(await check(seed));
      await fc.assert(
        fc.asyncProperty(inputFor(target), async (input) => void outcomes.add(await check(input))),
        { numRuns: RUNS, seed: SEED },
      );
    } finally {
      await close?.();
    }
    // Inputs with only one kind of outcome would test nothing.
    expect(outcomes.size).toBeGreaterThan(2);
  });
});
