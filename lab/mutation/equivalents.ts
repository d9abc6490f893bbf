/** Mutants that no test can detect because they change no outcome, each with its reason. */

import type { Mutant } from "./stryker.ts";

interface Equivalent extends Pick<Mutant, "file" | "original" | "replacement"> {
  why: string;
}

const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: "src/runs/engine/claim-store.ts",
    original: "(await far.executeTakeFirst()) === undefined",
    replacement: "false",
    why: "An update without rows changes nothing; the check saves the write lock.",
  },
  {
    file: "src/runs/engine/claim-store.ts",
    original: "dead.length === 0",
    replacement: "false",
    why: "An update for an empty list changes nothing; the check saves the write lock.",
  },
  ...['"after-intent"', '"before-post"', '"after-post"'].map((original) => ({
    file: "src/runs/start/start.ts",
    original,
    replacement: '""',
    why: "Names a kill point of the lab's build; in the product the function returns at once, whatever the name.",
  })),
  {
    file: "src/gemini/interactions/agent.ts",
    original: '"the agent"',
    replacement: '""',
    why: "Only the message about a 404 names the agent, and a poll, cancel or deletion returns a 404 without a message.",
  },
  {
    file: "src/runs/run.ts",
    original: "[]",
    replacement: '["Stryker was here"]',
    why: "No state has that name, so the entry allows no transition.",
  },
  {
    file: "src/reports/files/allowed-root.ts",
    original: "() => false",
    replacement: "() => undefined",
    why: "Callers only test whether it is true.",
  },
];

const matches = (known: Equivalent, { file, original, replacement }: Mutant): boolean =>
  known.file === file && known.original === original && known.replacement === replacement;

export const isEquivalent = (mutant: Mutant): boolean => EQUIVALENTS.some((known) => matches(known, mutant));

/** Entries about code that has changed: they explain a mutant that no longer exists. */
export const staleEquivalents = (mutants: Mutant[]): Equivalent[] =>
  EQUIVALENTS.filter(
    (known) => mutants.some(({ file }) => file === known.file) && !mutants.some((mutant) => matches(known, mutant)),
  );
