/** Measured on pairs: a report that is offered for another question is worse than none. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { isSameQuestion } from "./same-question.ts";

const FILE = join(import.meta.dirname, "../../../bench/data/question-pairs.json");
const pairs = z.array(z.tuple([z.string(), z.string()]));
const { same, different } = z.object({ same: pairs, different: pairs }).parse(JSON.parse(readFileSync(FILE, "utf8")));

test("none of 80 questions that only resemble another one is taken for it, and most paraphrases are (I14)", () => {
  expect(different.filter(([one, other]) => isSameQuestion(one, other) || isSameQuestion(other, one))).toEqual([]);
  expect(same.filter(([one, other]) => isSameQuestion(one, other)).length).toBeGreaterThanOrEqual(15);
});
