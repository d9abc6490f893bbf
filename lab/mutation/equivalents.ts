/** Mutants that no test can detect because they change no outcome, each with its reason. */

import type { Mutant } from "./stryker.ts";

interface Equivalent extends Pick<Mutant, "file" | "original" | "replacement"> {
  why: string;
}

const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: "src/runs/scheduling/claim-store.ts",
    original: "turns === 0",
    replacement: "false",
    why: "A claim of at most 0 runs claims none; the check saves the statement.",
  },
  {
    file: "src/runs/scheduling/claim-store.ts",
    original: "row === undefined",
    replacement: "false",
    why: "An update without rows changes nothing; the check saves the write lock.",
  },
  {
    file: "src/runs/scheduling/claim-store.ts",
    original: "processIds.length === 0",
    replacement: "false",
    why: "SQLite accepts an empty list; the check is for databases that do not.",
  },
  {
    file: "src/runs/scheduling/claim-store.ts",
    original: "row.interaction_id === null",
    replacement: "false",
    why: "The statement claims only runs that have one; the check narrows the type.",
  },
  {
    file: "src/runs/scheduling/claim-store.ts",
    original: "row.next_poll_at === null",
    replacement: "false",
    why: "The statement finds only runs that have one; the check narrows the type.",
  },
  {
    file: "src/runs/start/start.ts",
    original: 'begun.kind === "rate_limited"',
    replacement: "true",
    why: "No other outcome has a retry time; the check narrows the type.",
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

export const isEquivalent = ({ file, original, replacement }: Mutant): boolean =>
  EQUIVALENTS.some((known) => known.file === file && known.original === original && known.replacement === replacement);
