/** The fuzzing loop: derives inputs from a corpus, runs them, and keeps those that reach new coverage. */

import { createHash } from "node:crypto";
import type { Random } from "../../test/corpus/random.ts";
import { mutate, pump } from "../../test/fuzz/mutate.ts";
import type { FuzzTarget, OpenTarget } from "../../test/fuzz/target.ts";
import { type Coverage, createCoverage } from "./counters.ts";

export interface LoopOptions {
  target: FuzzTarget;
  open: OpenTarget;
  random: Random;
  inputs: number;
  /** Called with each input before it runs, so that a hang can be attributed to it. */
  trying(input: string): void;
  failed(input: string, error: unknown): void;
}

export interface LoopResult {
  inputs: number;
  failures: number;
  corpus: number;
  locations: number;
  outcomes: number;
}

const MAX_INPUT_CHARACTERS = 2_000;
const MAX_CORPUS = 5_000;
/** Long inputs reveal non-linear time, but take as long as a hundred short ones. */
const PUMP_EVERY = 400;
const PUMPED_CHARACTERS = 48 * 1_024;

export async function fuzzLoop({ target, open, random, inputs, trying, failed }: LoopOptions): Promise<LoopResult> {
  const coverage: Coverage = createCoverage();
  const corpus: string[] = [];
  const outcomes = new Set<string>();
  const reported = new Set<string>();
  let failures = 0;
  const attempt = async (input: string, keep: boolean): Promise<void> => {
    trying(input);
    try {
      const outcome = await open.check(input);
      // Many parsers are patterns, whose branches cannot be counted, so a new kind of outcome counts as well.
      const isNewOutcome = !outcomes.has(outcome) && outcomes.size < 2_000;
      if (isNewOutcome) outcomes.add(outcome);
      if ((coverage.isNew() || isNewOutcome || corpus.length === 0) && keep) admit(corpus, input, random);
    } catch (error) {
      failures += 1;
      const defect = defectOf(error);
      if (reported.has(defect)) return;
      reported.add(defect);
      failed(input, error);
    }
  };
  for (const seed of target.seeds) await attempt(seed, true);
  for (let number = target.seeds.length; number < inputs; number += 1) {
    // The newest inputs are the least explored.
    const pool = random.next() < 0.3 ? corpus.slice(-20) : corpus;
    const source = { pool, words: target.words, maxLength: MAX_INPUT_CHARACTERS };
    const isLong = number % PUMP_EVERY === 0;
    await attempt(isLong ? pump(random, source, PUMPED_CHARACTERS) : mutate(random, source), !isLong);
    // Weak references are released only at the end of an event loop turn, which a synchronous check never reaches.
    await new Promise(setImmediate);
  }
  return { inputs, failures, corpus: corpus.length, locations: coverage.locations(), outcomes: outcomes.size };
}

function admit(corpus: string[], input: string, random: Random): void {
  if (corpus.length < MAX_CORPUS) corpus.push(input);
  else corpus[random.between(0, MAX_CORPUS - 1)] = input;
}

/** Reports one defect once, however many inputs trigger it. */
const defectOf = (error: unknown): string =>
  error instanceof Error ? error.message.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, "").slice(0, 120) : String(error);

export const nameOf = (input: string): string => createHash("sha256").update(input).digest("hex").slice(0, 12);
