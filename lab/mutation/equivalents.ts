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
    why: "SQLite takes an empty list for no process; the check is for databases that do not.",
  },
  {
    file: "src/runs/scheduling/claim-store.ts",
    original: "row.interaction_id === null",
    replacement: "false",
    why: "The statement claims only runs that have one; the check tells the type so.",
  },
  {
    file: "src/runs/scheduling/claim-store.ts",
    original: "row.next_poll_at === null",
    replacement: "false",
    why: "The statement finds only runs that have one; the check tells the type so.",
  },
  {
    file: "src/runs/start/start.ts",
    original: 'begun.kind === "rate_limited"',
    replacement: "true",
    why: "Nothing else has a time to wait for; the check tells the type so.",
  },
  {
    file: "src/runs/run.ts",
    original: "[]",
    replacement: '["Stryker was here"]',
    why: "No state has that name, so none can be entered by it.",
  },
  {
    file: "src/reports/files/allowed-root.ts",
    original: "() => false",
    replacement: "() => undefined",
    why: "Only whether it is true is asked.",
  },
];

export const isEquivalent = ({ file, original, replacement }: Mutant): boolean =>
  EQUIVALENTS.some((known) => known.file === file && known.original === original && known.replacement === replacement);
