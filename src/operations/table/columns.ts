/** The columns of a table, as a caller asks for them. */

import { z } from "zod";
import { columnKey } from "../../runs/table/find-table.ts";

/** More make Google refuse the schema as too complex, and no table that a person reads has more. */
const MAX_COLUMNS = 20;
const MAX_NAME_CHARACTERS = 60;

/** Checked by one function: bounds in the schema would be part of the list of tools, and of no use to a model. */
export const columnsField = z
  .array(z.string({ error: "{columns} must be a list of texts." }).trim(), {
    error: "{columns} must be a list of texts.",
  })
  .superRefine((columns, context) => {
    const message = problemWith(columns);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .optional();

function problemWith(columns: readonly string[]): string | undefined {
  if (columns.length === 0) return "{columns} must not be empty.";
  if (columns.length > MAX_COLUMNS) return `A table has at most ${MAX_COLUMNS} columns.`;
  const fault = columns.map(problemWithName).find((problem) => problem !== undefined);
  if (fault !== undefined) return `The name of a column must ${fault}.`;
  return new Set(columns.map(columnKey)).size === columns.length ? undefined : "Each column must be named once.";
}

function problemWithName(name: string): string | undefined {
  if (name === "") return "not be empty";
  if (name.length > MAX_NAME_CHARACTERS) return `have at most ${MAX_NAME_CHARACTERS} characters`;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return "be one line of text";
  return /[\p{L}\p{N}]/u.test(name) ? undefined : "have at least one letter or digit";
}
