/** A theme of the security corpus: so many ways to break one promise, and a sentence for each that did. */

import type { TestContext } from "vitest";

export interface Verdict {
  /** How many ways were tried. */
  tried: number;
  broken: string[];
}

/** What is opened for a trial ends with it. */
export type Stage = Pick<TestContext, "onTestFinished">;

/** Counts the tries and keeps what went wrong. */
export function openVerdict(): Verdict & { check(what: string, holds: boolean): void } {
  const verdict = {
    tried: 0,
    broken: [] as string[],
    check: (what: string, holds: boolean): void => {
      verdict.tried += 1;
      if (!holds) verdict.broken.push(what.slice(0, 500));
    },
  };
  return verdict;
}

/** Every string in an answer, keys included. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...stringsIn(item)]);
}
