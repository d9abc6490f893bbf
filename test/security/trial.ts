/** The type of a security trial: a number of attempts to break one promise, and a sentence for each success. */

import type { TestContext } from "vitest";

export interface Verdict {
  /** The number of attempts. */
  tried: number;
  broken: string[];
}

/** Everything opened for a trial is closed with it. */
export type Stage = Pick<TestContext, "onTestFinished">;

/** Counts the attempts and records the successful ones. */
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

/** All strings of a value, keys included. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...stringsIn(item)]);
}
