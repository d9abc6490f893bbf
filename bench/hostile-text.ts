/** How the time to read hostile output grows with its size: 2 is linear, 4 quadratic (D4). */

import { extractJsonFromOutput } from "../src/search/extract-json.ts";
import { SEARCH_SCHEMA } from "../src/search/schemas.ts";
import { HOSTILE, MEGABYTE } from "../test/corpus/hostile-texts.ts";
import type { Table } from "./report.ts";

const SMALLER = 5 * MEGABYTE;

export function hostileText(): Table {
  const measured = Object.entries(HOSTILE).map(([name, make]) => {
    const half = best(make(SMALLER));
    const whole = best(make(2 * SMALLER));
    return { name, half, whole, ratio: whole / half };
  });
  return {
    title: "Reading 10 MB of hostile output",
    columns: ["text", "5 MB, ms", "10 MB, ms", "ratio"],
    rows: measured.map(({ name, half, whole, ratio }) => [name, half.toFixed(0), whole.toFixed(0), ratio.toFixed(1)]),
    notes: ["The better of two tries each. A ratio of about 2 is linear, of about 4 quadratic."],
    passed: true,
  };
}

/** The slower try was disturbed by the garbage collector or other processes. */
const best = (text: string): number => Math.min(milliseconds(text), milliseconds(text));

function milliseconds(text: string): number {
  const started = performance.now();
  extractJsonFromOutput(text, SEARCH_SCHEMA);
  return performance.now() - started;
}
