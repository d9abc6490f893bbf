/** The result of a bench, and how it is printed: figures, then method and machine. */

import { circumstances } from "../scripts/circumstances.ts";

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

export function printCircumstances(name: string): void {
  const { date, commit, machine } = circumstances();
  console.log(`\`node bench/run.ts ${name}\`, ${date}, commit ${commit}, ${machine}\n`);
}
