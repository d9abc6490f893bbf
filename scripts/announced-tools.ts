/**
 * Generates the tool list that MCP clients receive: only what a model needs to choose a tool, because it is part of
 * every session. `npm run reference` writes it to src/mcp/announced-tools.json, because generating it at every start
 * took a fifth of the start-up time.
 */

import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { OPERATIONS } from "../src/operations/catalog.ts";
import type { Operation } from "../src/operations/operation.ts";
import { isRecord } from "../src/platform/is-record.ts";

/** Claude Code writes a longer result to a file unless the tool declares its size. */
const REPORT_META = { "anthropic/maxResultSizeChars": 400_000 };
const REPORTS = ["report", "result", "results"];

type Schema = Record<string, unknown>;
const objectSchema = z.looseObject({ type: z.literal("object") });

export const announcedTools = (): { tools: Tool[]; tasks: string[] } => ({
  tools: OPERATIONS.map(announced),
  tasks: OPERATIONS.filter(({ task }) => task !== undefined).map(({ name }) => name),
});

function announced({ name, title, description, input, output, annotations }: Operation): Tool {
  return {
    name,
    title,
    description,
    inputSchema: objectSchema.parse(accepted(z.toJSONSchema(input, { io: "input" }))),
    outputSchema: objectSchema.parse(returned(z.toJSONSchema(output, { io: "output" }))),
    annotations,
    ...(REPORTS.some((field) => field in output.shape) ? { _meta: REPORT_META } : {}),
  };
}

/**
 * The schema dialect is the default one; patterns, formats and lengths are of no use to a model: perform() checks them
 * and explains errors.
 */
const accepted = ({ $schema: _dialect, properties, ...rest }: Schema): Schema => ({
  ...rest,
  properties: itemsOf(properties, (field) =>
    Object.fromEntries(Object.entries(field).filter(([name]) => !CHECKED_HERE.includes(name))),
  ),
});

const CHECKED_HERE = ["pattern", "format", "minLength", "maxLength"];

/**
 * Fields and their types. Clients validate results against this and show none of it to a model, so details are in the
 * reference only: objects are left open, and the items of a list have named fields.
 */
const returned = ({ properties, required }: Schema): Schema => ({
  type: "object",
  properties: itemsOf(withoutMarks(properties), typeOf),
  required,
});

/** Marks beside a figure, what was sent with a question, and the error fields of all tools, which only the reference lists. */
export const MARKS = ["cost_incomplete", "cost_estimated", "material", "progress"];

const withoutMarks = (fields: unknown): Schema =>
  Object.fromEntries(Object.entries(isRecord(fields) ? fields : {}).filter(([name]) => !MARKS.includes(name)));

function typeOf(schema: Schema): Schema {
  const { items } = schema;
  if (!isRecord(items)) return plainType(schema);
  const properties = isRecord(items["properties"])
    ? { properties: itemsOf(withoutMarks(items["properties"]), plainType) }
    : {};
  return { type: "array", items: { ...plainType(items), ...properties } };
}

const plainType = ({ type, enum: values }: Schema): Schema =>
  values === undefined ? { type } : { type, enum: values };

function itemsOf(fields: unknown, change: (field: Schema) => Schema): Schema {
  const entries = Object.entries(isRecord(fields) ? fields : {});
  return Object.fromEntries(entries.map(([name, field]) => [name, isRecord(field) ? change(field) : field]));
}
