/** A table that was made from a report: cells with the numbers of the sources that support them. */

import { z } from "zod";
import type { CitedRange } from "../citations.ts";

const numbers = z.array(z.number());

const cellSchema = z.object({
  /** Absent if the report does not have it. */
  value: z.string().optional(),
  /** Numbers of the report's sources. */
  sources: numbers,
  mark: z.enum(["not found", "no source"]).optional(),
  /** Numbers that the model named, but that no source of the report has. */
  unknown_sources: numbers.optional(),
});

const tableSchema = z.object({ columns: z.array(z.string()), rows: z.array(z.array(cellSchema)) });

export type Cell = z.output<typeof cellSchema>;
export type Table = z.output<typeof tableSchema>;

/** The stored table of a result; undefined for a report without one. */
export function tableIn(metadata: Record<string, unknown>): Table | undefined {
  const stored = tableSchema.safeParse(metadata["table"]);
  return stored.success ? stored.data : undefined;
}

/** Cells that a reader must not take for facts of the report. */
export function countMarks({ rows }: Table): { notFound: number; withoutSource: number; unknownSources: number } {
  const cells = rows.flat();
  return {
    notFound: cells.filter(({ mark }) => mark === "not found").length,
    withoutSource: cells.filter(({ mark }) => mark === "no source").length,
    unknownSources: cells.filter(({ unknown_sources: unknown }) => unknown !== undefined).length,
  };
}

// Writes a table as Markdown: every cell with its sources, or what it lacks.

/** With the marks of Deep Research reports and their positions, so that every reader of reports links them. */
export function storedTableMarkdown(table: Table): { report: string; citations: CitedRange[] } {
  let report = `${headOf(table)}\n`;
  const citations: CitedRange[] = [];
  const write = (text: string): void => {
    report += text;
  };
  for (const row of table.rows) {
    write("|");
    for (const cell of row) {
      write(` ${valueText(cell)}`);
      if (cell.sources.length > 0) {
        write(" ");
        const start = report.length;
        write(`[cite: ${cell.sources.join(", ")}]`);
        for (const n of cell.sources) citations.push({ n, start, end: report.length });
      }
      write(`${remarkOf(cell)} |`);
    }
    write("\n");
  }
  return { report, citations };
}

/** With plain numbers, for an answer that lists the sources below. */
export function tableText(table: Table): string {
  const rows = table.rows.map(
    (row) =>
      `| ${row.map((cell) => `${valueText(cell)}${cell.sources.map((n) => ` [${n}]`).join("")}${remarkOf(cell)}`).join(" | ")} |`,
  );
  return [headOf(table), ...rows].join("\n");
}

const headOf = ({ columns }: Table): string =>
  [`| ${columns.map(cellText).join(" | ")} |`, `| ${columns.map(() => "---").join(" | ")} |`].join("\n");

const valueText = ({ value }: Cell): string => (value === undefined ? "*not found*" : cellText(value));

function remarkOf({ mark, unknown_sources: unknown = [] }: Cell): string {
  const remarks = [
    ...(mark === "no source" ? [mark] : []),
    ...(unknown.length === 0 ? [] : [`no such source: ${unknown.join(", ")}`]),
  ];
  return remarks.length === 0 ? "" : ` *(${remarks.join("; ")})*`;
}

/** A value is text of a model that has read the web: nothing in it is Markdown, and nothing ends its cell. */
const cellText = (text: string): string =>
  text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_[\]<>|~#!&$]/g, String.raw`\$&`);
