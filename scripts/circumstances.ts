/** What is needed to judge and repeat a measurement; nothing that identifies a machine or a folder. */

import { execFileSync } from "node:child_process";
import { availableParallelism, totalmem } from "node:os";

export function circumstances(): { date: string; commit: string; machine: string } {
  const { platform, arch, versions } = process;
  const memory = Math.round(totalmem() / 2 ** 30);
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    machine: `Node ${versions.node}, ${platform} ${arch}, ${availableParallelism()} cores, ${memory} GB`,
  };
}

/** Files that measurements write do not count as changes. */
const WRITTEN = [
  ":!docs/engineering/RELIABILITY.md",
  ":!lab/results",
  ":!docs/engineering/BENCHMARKS.md",
  ":!bench/results",
];

function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, {
      cwd: `${import.meta.dirname}/..`,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  try {
    const id = git("rev-parse", "--short", "HEAD").trim();
    return git("status", "--porcelain", "--", ...WRITTEN).trim() === "" ? id : `${id} with changes`;
  } catch {
    return "unknown";
  }
}
