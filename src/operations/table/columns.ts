/** The columns of a table, as a caller asks for them. */

import { z } from "zod";
import { columnKey } from "../../runs/table/find-table.ts";

/** More make Google refuse the schema as too complex, and no table that a person reads has more. */
export const MAX_COLUMNS = 20;
const MAX_NAME_CHARACTERS = 60;

const column = z
  .string({ error: "columns must be a list of texts." })
  .trim()
  .min(1, { error: "The name of a column must not be empty." })
  .max(MAX_NAME_CHARACTERS, { error: `The name of a column must have at most ${MAX_NAME_CHARACTERS} characters.` })
  .regex(/[\p{L}\p{N}]/u, { error: "The name of a column must have at least one letter or digit." })
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, { error: "The name of a column must be one line of text." });

export const columnsField = z
  .array(column, { error: "columns must be a list of texts." })
  .min(1, { error: "columns must not be empty." })
  .max(MAX_COLUMNS, { error: `A table has at most ${MAX_COLUMNS} columns.` })
  .refine((columns) => new Set(columns.map(columnKey)).size === columns.length, {
    error: "Each column must be named once.",
  })
  .optional();
