/** The response format that makes a model answer with a table, and the keys of its cells. */

/**
 * Short keys instead of column names: Google refuses schemas with many long property names as too complex, and a name
 * of the user's may be any text.
 */
export const cellKey = (column: number): string => `c${column + 1}`;

/** A model writes this as the value of a cell that the report does not answer; a nullable type is not needed. */
const NOT_FOUND = "";

const CELL_RULES = `Value in a few words, "${NOT_FOUND}" if the report does not have it. Numbers of the sources that support it.`;

/** Only keywords that every version of Google's schema subset has: no null, no limits, no additionalProperties. */
export function tableFormat(columns: readonly string[]) {
  const keys = columns.map((_column, index) => cellKey(index));
  const cells = columns.map((column, index) => [cellKey(index), cellSchema(column)] as const);
  const row = { type: "object", properties: Object.fromEntries(cells), required: keys };
  return {
    type: "text" as const,
    mime_type: "application/json" as const,
    schema: { type: "object", properties: { rows: { type: "array", items: row } }, required: ["rows"] },
  };
}

const cellSchema = (column: string) => ({
  type: "object",
  description: `${column}. ${CELL_RULES}`,
  properties: { value: { type: "string" }, sources: { type: "array", items: { type: "integer" } } },
  required: ["value", "sources"],
});
