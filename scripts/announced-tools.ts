/**
 * The tools as clients are told of them: what a model chooses by, and little else, because every session carries it.
 * Written to src/mcp/announced-tools.json by `npm run reference`: a client waits for this list at every start, and to
 * make it anew took a fifth of that time.
 */

import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { OPERATIONS } from "../src/operations/catalog.ts";
import type { Operation } from "../src/operations/operation.ts";
import { isRecord } from "../src/platform/is-record.ts";

/** Claude Code puts a longer result into a file of its own, unless the tool says otherwise. */
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

/** The dialect is the default one, and patterns tell a model nothing: perform() checks them, in words. */
const accepted = ({ $schema: _dialect, properties, ...rest }: Schema): Schema => ({
  ...rest,
  properties: eachOf(properties, ({ pattern: _pattern, ...field }) => field),
});

/**
 * Fields and their types. Clients check answers against this and show none of it to a model, so the reference alone
 * has the rest: what an object holds is left open, what the objects of a list hold is named.
 */
const returned = ({ properties, required }: Schema): Schema => ({
  type: "object",
  properties: eachOf(withoutMarks(properties), typeOf),
  required,
});

/** Marks on a figure beside them, and what errors of every tool have in common: the reference has them. */
export const MARKS = ["cost_incomplete", "cost_estimated", "progress"];

const withoutMarks = (fields: unknown): Schema =>
  Object.fromEntries(Object.entries(isRecord(fields) ? fields : {}).filter(([name]) => !MARKS.includes(name)));

function typeOf(schema: Schema): Schema {
  const { items } = schema;
  if (!isRecord(items)) return plainType(schema);
  const properties = isRecord(items["properties"])
    ? { properties: eachOf(withoutMarks(items["properties"]), plainType) }
    : {};
  return { type: "array", items: { ...plainType(items), ...properties } };
}

const plainType = ({ type, enum: values }: Schema): Schema =>
  values === undefined ? { type } : { type, enum: values };

function eachOf(fields: unknown, change: (field: Schema) => Schema): Schema {
  const entries = Object.entries(isRecord(fields) ? fields : {});
  return Object.fromEntries(entries.map(([name, field]) => [name, isRecord(field) ? change(field) : field]));
}
