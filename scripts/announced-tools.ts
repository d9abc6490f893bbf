/**
 * Generates the tool list that MCP clients receive: only what a model needs to choose a tool, because it is part of
 * every session. `npm run reference` writes it to src/mcp/announced-tools.json, because generating it at every start
 * took a fifth of the start-up time.
 */

import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { OPERATIONS } from "../src/operations/catalog.ts";
import type { Operation } from "../src/operations/operation.ts";
import { CHATGPT_OPERATIONS } from "../src/operations/chatgpt.ts";
import { APP_ONLY, CARD_REFERENCE, CARDED_TOOLS } from "../src/mcp/run-card.ts";
import { CARD_OPERATIONS } from "../src/web/chat/card.ts";
import { isRecord } from "../src/platform/is-record.ts";

/** Claude Code writes a longer result to a file unless the tool declares its size. */
const REPORT_META = { "anthropic/maxResultSizeChars": 400_000 };
/** Claude Code otherwise looks up the tool before the first search, which costs a request. */
const ALWAYS_LOADED = { "anthropic/alwaysLoad": true };
const REPORTS = ["report", "result", "results"];

type Schema = Record<string, unknown>;
const objectSchema = z.looseObject({ type: z.literal("object") });

interface AnnouncedTools {
  tools: Tool[];
  tasks: string[];
  cardTools: Tool[];
  chatgptTools: Tool[];
}

export const announcedTools = (): AnnouncedTools => ({
  tools: OPERATIONS.map((operation) => announced(operation, metaOf(operation))),
  tasks: OPERATIONS.filter(({ task }) => task !== undefined).map(({ name }) => name),
  cardTools: CARD_OPERATIONS.map((operation) => announced(operation, APP_ONLY)),
  chatgptTools: CHATGPT_OPERATIONS.map((operation) => announced(operation, undefined)),
});

function metaOf({ name, output }: Operation): Tool["_meta"] {
  const meta = {
    ...(name === "search" ? ALWAYS_LOADED : {}),
    ...(REPORTS.some((field) => field in output.shape) ? REPORT_META : {}),
    ...(CARDED_TOOLS.some((carded) => carded === name) ? CARD_REFERENCE : {}),
  };
  return Object.keys(meta).length === 0 ? undefined : meta;
}

function announced({ name, title, description, input, output, annotations }: Operation, meta: Tool["_meta"]): Tool {
  return {
    name,
    title,
    description,
    inputSchema: objectSchema.parse(accepted(z.toJSONSchema(input, { io: "input" }))),
    outputSchema: objectSchema.parse(returned(z.toJSONSchema(output, { io: "output" }))),
    // Claude Code shows this title, and ignores the one above.
    annotations: { title, ...annotations },
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/**
 * Names, types, bounds of numbers and descriptions. The schema dialect is the default one; patterns, lengths, formats
 * and unknown parameters are of no use to a model: perform() checks them and explains errors.
 */
const accepted = ({ $schema: _dialect, additionalProperties: _closed, properties, ...rest }: Schema): Schema => ({
  ...rest,
  properties: itemsOf(properties, acceptedField),
});

const acceptedField = ({ pattern: _pattern, format: _format, minLength: _min, maxLength: _max, ...field }: Schema) =>
  field;

/**
 * Fields and their types. Clients validate results against this and show none of it to a model, so details are in the
 * reference only: objects are left open, in lists too.
 */
const returned = ({ properties, required }: Schema): Schema => ({
  type: "object",
  properties: itemsOf(withoutMarks(properties), typeOf),
  required,
});

/** Marks beside a figure, fields of some answers only, and fields that many tools share: only the reference lists them. */
export const MARKS = [
  "cost_incomplete",
  "cost_estimated",
  "material",
  "progress",
  "error",
  "status",
  "caution",
  "notice",
  "check_status_command",
  "wait_seconds",
  "expected_minutes",
  "expected_cost_usd",
  "joined",
  "context",
  "table",
  "complete",
  "section",
  "next_section",
  "verified_in_round",
];

const withoutMarks = (fields: unknown): Schema =>
  Object.fromEntries(Object.entries(isRecord(fields) ? fields : {}).filter(([name]) => !MARKS.includes(name)));

function typeOf(schema: Schema): Schema {
  const { items } = schema;
  return isRecord(items) ? { type: "array", items: plainType(items) } : plainType(schema);
}

const plainType = ({ type, enum: values }: Schema): Schema =>
  values === undefined ? { type } : { type, enum: values };

function itemsOf(fields: unknown, change: (field: Schema) => Schema): Schema {
  const entries = Object.entries(isRecord(fields) ? fields : {});
  return Object.fromEntries(entries.map(([name, field]) => [name, isRecord(field) ? change(field) : field]));
}
