/** The inputs of a fuzz target: damaged seeds, words with a meaning to the parser, long repetitions, random text. */

import fc from "fast-check";
import { createRandom } from "../corpus/random.ts";
import { mutate, pump } from "./mutate.ts";
import type { FuzzTarget } from "./target.ts";

const MAX_DAMAGED_CHARACTERS = 4_000;
const PUMPED_CHARACTERS = 48 * 1_024;

/** Mutated seeds reach states that random text does not; random text finds unexpected ones. */
export function inputsFor({ seeds, words }: FuzzTarget): fc.Arbitrary<string> {
  const source = { pool: seeds, words, maxLength: MAX_DAMAGED_CHARACTERS };
  const seeded = (make: (random: ReturnType<typeof createRandom>) => string): fc.Arbitrary<string> =>
    fc.integer().map((seed) => make(createRandom(seed)));
  return fc.oneof(
    { weight: 400, arbitrary: seeded((random) => mutate(random, source)) },
    { weight: 100, arbitrary: fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join("")) },
    { weight: 100, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
    // They reveal non-linear time, but take as long as a hundred short ones.
    { weight: 1, arbitrary: seeded((random) => pump(random, source, PUMPED_CHARACTERS)) },
  );
}
