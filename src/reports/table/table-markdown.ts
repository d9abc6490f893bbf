/** Writes a table as Markdown: every cell with its sources, or what it lacks. */

import type { CitedRange } from "../citations.ts";
import type { Cell, Table } from "./table.ts";

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
