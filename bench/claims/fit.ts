/**
 * Fits the coefficients of `src/claims/likeness.ts`: `node bench/claims/fit.ts [directory of collections …]`. It prints
 * them, and what they decide on the halves of the collections that were used and on those that were not.
 */

import { indexPage, nearestSentences, withoutJoint } from "../../src/claims/page-index.ts";
import { compareWords, FEATURES } from "../../src/claims/likeness.ts";
import { type Collection, isForFitting, type LabelledClaim, readCollections } from "./collections.ts";

interface Example {
  features: readonly number[];
  isSaid: boolean;
  weight: number;
  claim: LabelledClaim;
}

/** Citations of search engines are what reports are like. */
const WEIGHTS: Readonly<Record<string, number>> = { "Stanford-GenSearch": 1_500 };

/** What is no English prose with a passage is not used. */
const UNUSED = new Set(["JNLI", "AttributedQA"]);

function examplesOf({ name, claims }: Collection): Example[] {
  const found = claims.flatMap((claim) => {
    const index = indexPage(claim.page);
    const text = withoutJoint(claim.claim);
    const read = compareWords(text, index, nearestSentences({ text, context: [] }, index));
    return read === undefined ? [] : { features: read.features, isSaid: claim.label === "said", weight: 1, claim };
  });
  const fitted = found.filter(({ claim }) => isForFitting(claim));
  // What is said counts as much as what is not.
  for (const isSaid of [true, false]) {
    const group = fitted.filter((each) => each.isSaid === isSaid);
    for (const each of group) each.weight = (WEIGHTS[name] ?? 500) / Math.max(1, group.length);
  }
  return found;
}

const probability = (features: readonly number[], coefficients: readonly number[]): number =>
  1 / (1 + Math.exp(-features.reduce((sum, value, index) => sum + value * (coefficients[index] ?? 0), 0)));

const RIDGE = 5;
const STEPS = 40;

/** Newton's method for a logistic regression with a penalty for large coefficients. */
function fit(examples: readonly Example[]): number[] {
  const size = FEATURES.length;
  let coefficients: number[] = Array.from({ length: size }, () => 0);
  for (let step = 0; step < STEPS; step += 1) {
    const gradient = coefficients.map((value, index) => (index === 0 ? 0 : -RIDGE * value));
    const hessian: number[][] = coefficients.map((_value, row) =>
      coefficients.map((_other, column) => (row === column ? RIDGE : 0)),
    );
    for (const { features, isSaid, weight } of examples) {
      const p = probability(features, coefficients);
      for (let row = 0; row < size; row += 1) {
        const value = features[row] ?? 0;
        gradient[row] = (gradient[row] ?? 0) + weight * value * ((isSaid ? 1 : 0) - p);
        const line = hessian[row] ?? [];
        for (let column = 0; column < size; column += 1)
          line[column] = (line[column] ?? 0) + weight * p * (1 - p) * value * (features[column] ?? 0);
      }
    }
    const move = solve(hessian, gradient);
    coefficients = coefficients.map((value, index) => value + (move[index] ?? 0));
  }
  return coefficients;
}

/** Gauss's elimination. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0]);
  for (let at = 0; at < rows.length; at += 1) {
    const pivot = rows.slice(at).toSorted((one, other) => Math.abs(other[at] ?? 0) - Math.abs(one[at] ?? 0))[0] ?? [];
    rows.splice(rows.indexOf(pivot, at), 1);
    rows.splice(at, 0, pivot);
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[at] ?? 0) / (pivot[at] ?? 1);
      for (let column = at; column < row.length; column += 1)
        row[column] = (row[column] ?? 0) - factor * (pivot[column] ?? 0);
    }
  }
  return rows.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1));
}

const collections = readCollections(process.argv.slice(2)).filter(({ name }) => !UNUSED.has(name));
const all = collections.map((collection) => ({ name: collection.name, examples: examplesOf(collection) }));
const coefficients = fit(all.flatMap(({ examples }) => examples.filter(({ claim }) => isForFitting(claim))));
for (const [index, name] of FEATURES.entries()) console.log(`  ${(coefficients[index] ?? 0).toFixed(2)}, // ${name}`);
for (const threshold of [0.6, 0.66, 0.7, 0.75, 0.8]) {
  console.log(`At ${threshold}:`);
  for (const { name, examples } of all) {
    const parts = [true, false].map((isFit) => {
      const group = examples.filter(({ claim }) => isForFitting(claim) === isFit);
      const accepted = group.filter(({ features }) => probability(features, coefficients) >= threshold);
      const share = (label: string): string =>
        `${accepted.filter(({ claim }) => claim.label === label).length}/${group.filter(({ claim }) => claim.label === label).length} ${label}`;
      return `${isFit ? "fitted" : "other"} ${share("said")}, ${share("partly")}, ${share("not said")}`;
    });
    console.log(`  ${name}: ${parts.join("; ")}`);
  }
}
