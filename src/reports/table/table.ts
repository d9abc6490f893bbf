/** A table that was made from a report: cells with the numbers of the sources that support them. */

import { z } from "zod";

const numbers = z.array(z.number());

const cell = z.object({
  /** Absent if the report does not have it. */
  value: z.string().optional(),
  /** Numbers of the report's sources. */
  sources: numbers,
  mark: z.enum(["not found", "no source"]).optional(),
  /** Numbers that the model named, but that no source of the report has. */
  unknown_sources: numbers.optional(),
});

const table = z.object({ columns: z.array(z.string()), rows: z.array(z.array(cell)) });

export type Cell = z.output<typeof cell>;
export type Table = z.output<typeof table>;

/** The stored table of a result; undefined for a report without one. */
export function tableIn(metadata: Record<string, unknown>): Table | undefined {
  const stored = table.safeParse(metadata["table"]);
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
