/** The result of a bench, and how it is printed: figures, then method and machine. */

import { circumstances } from "../scripts/circumstances.ts";

export interface Table {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** What is needed to interpret the figures. */
  notes: readonly string[];
  /** False if what has no figure is wrong. */
  passed: boolean;
  /** Figures with a limit: smaller is better. One above its limit fails the bench. */
  figures?: readonly Figure[];
}

export interface Figure {
  what: string;
  value: number;
  limit: number;
}

export const isMet = ({ value, limit }: Pick<Figure, "value" | "limit">): boolean => value <= limit;

export const hasPassed = ({ passed, figures = [] }: Table): boolean => passed && figures.every(isMet);

export function printTable(table: Table): void {
  console.log(`${tableText(table)}\n`);
}

export function tableText({ title, columns, rows, notes }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    `### ${title}`,
    [line(columns), line(columns.map((_, index) => (index === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n"),
    ...notes,
  ].join("\n\n");
}

export function printCircumstances(name: string): void {
  const { date, commit, machine } = circumstances();
  console.log(`\`npx node bench/run.ts ${name}\`, ${date}, commit ${commit}, ${machine}\n`);
}
