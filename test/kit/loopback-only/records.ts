/** Attempts to reach an address beyond loopback during a test run, as preload.cjs records them. */

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What preload.cjs adds to the environment of every process. */
export const LOOPBACK_ONLY_VARIABLES = ["NODE_OPTIONS", "LOOPBACK_ONLY_RECORDS", "LOOPBACK_ONLY_TEST_FILE"];

interface Attempt {
  target: string;
  test: string;
  command: string;
  stack: string[];
}

export interface AttemptRecords {
  /** Reads and removes the file. */
  take(): Attempt[];
}

/** A file of its own for each run: several runs of one checkout may overlap. */
export function recordAttempts(): AttemptRecords {
  const folder = mkdtempSync(join(tmpdir(), "loopback-only-"));
  const file = join(folder, "attempts.jsonl");
  writeFileSync(file, "");
  // Some tests start programs as another user, who must be able to add to the file.
  chmodSync(folder, 0o711);
  chmodSync(file, 0o666);
  // Test processes inherit it from this one.
  process.env["LOOPBACK_ONLY_RECORDS"] = file;
  return {
    take: () => {
      const lines = readFileSync(file, "utf8").split("\n");
      rmSync(folder, { recursive: true, force: true });
      return lines.filter((line) => line !== "").map((line): Attempt => JSON.parse(line));
    },
  };
}
