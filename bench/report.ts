/** The result of a bench, and how it is printed: figures, then method and machine. */

import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

export interface Table {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** What is needed to interpret the figures. */
  notes: readonly string[];
  /** False if a figure that does not depend on the machine missed its target. */
  passed: boolean;
}

export function printTable({ title, columns, rows, notes }: Table): void {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const parts = [
    `### ${title}`,
    [line(columns), line(columns.map((_, index) => (index === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n"),
    ...notes,
  ];
  console.log(`${parts.join("\n\n")}\n`);
}

/** What is needed to judge and repeat a figure; nothing that identifies a machine or a folder. */
export function printCircumstances(name: string): void {
  const date = new Date().toISOString().slice(0, 10);
  const { platform, arch, versions } = process;
  const machine = `Node ${versions.node}, ${platform} ${arch}, ${availableParallelism()} cores`;
  console.log(`\`node bench/run.ts ${name}\`, ${date}, commit ${commit()}, ${machine}\n`);
}

function commit(): string {
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" });
  try {
    const id = git("rev-parse", "--short", "HEAD").trim();
    return git("status", "--porcelain").trim() === "" ? id : `${id} with changes`;
  } catch {
    return "unknown";
  }
}
