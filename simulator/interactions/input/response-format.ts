/** The response format of a start: which schemas Google accepts, how it refuses others, and an answer that fits one. */

import { z } from "zod";
import type { GoogleError } from "../../google-errors.ts";
import { createRandom } from "../script.ts";

const format = z.looseObject({
  type: z.enum(["text", "image", "audio", "video"]),
  mime_type: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
});

export const responseFormat = z.union([format, z.array(format)]).optional();

type ResponseFormat = z.output<typeof responseFormat>;

/** The one with a schema; undefined for an answer in plain text. */
export const schemaIn = (given: ResponseFormat): Record<string, unknown> | undefined =>
  [given ?? []].flat().find(({ schema }) => schema !== undefined)?.schema;

interface Refusal {
  name: string;
  error: GoogleError;
}

const invalid = (name: string, message: string): Refusal => ({
  name,
  error: { code: 400, message, status: "INVALID_ARGUMENT" },
});

/** Google names no number; these are above what other projects send, and the second text is one they received. */
const MAX_PROPERTIES = 100;
const MAX_DEPTH = 10;

export function refusalOfFormat(given: ResponseFormat, { isAgent }: { isAgent: boolean }): Refusal | undefined {
  if (given === undefined) return undefined;
  if (isAgent) return invalid("format-unsupported", "Deep Research does not support structured outputs.");
  const isText = [given].flat().every(({ type }) => type === "text");
  if (!isText) return invalid("format-unsupported", "The model does not support this response format.");
  const schema = schemaIn(given);
  if (schema === undefined) return undefined;
  if (![given].flat().every(({ mime_type: mime }) => mime === "application/json")) {
    return invalid("format-mime", "A schema requires mime_type application/json.");
  }
  const { properties, depth } = measure(schema);
  if (depth > MAX_DEPTH) {
    const text = "A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth.";
    return invalid("schema-too-deep", text);
  }
  return properties > MAX_PROPERTIES ? invalid("schema-too-complex", "The response schema is too complex.") : undefined;
}

const node = z.looseObject({
  type: z.string().optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});

function measure(schema: unknown): { properties: number; depth: number } {
  const { properties = {}, items } = node.catch({}).parse(schema);
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])].map(measure);
  return {
    properties: Object.keys(properties).length + inner.reduce((sum, each) => sum + each.properties, 0),
    depth: 1 + inner.reduce((deepest, each) => Math.max(deepest, each.depth), 0),
  };
}

const ROWS = 4;

/** The same request always gets the same answer. Texts are named after the description above them; some are empty. */
export function structuredAnswer(schema: Record<string, unknown>, seed: string): string {
  const random = createRandom(`structured ${seed}`);
  const fill = (given: unknown, label: string, row: number): unknown => {
    const { type = "string", description, properties = {}, items } = node.catch({}).parse(given);
    const named = description?.split(". ")[0] ?? label;
    switch (type) {
      case "object":
        return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, fill(value, named, row)]));
      case "array": {
        const isList = node.catch({}).parse(items).type === "object";
        return Array.from({ length: isList ? ROWS : 1 + random(2) }, (_item, index) =>
          fill(items, named, isList ? index + 1 : row),
        );
      }
      case "integer":
      case "number":
        return 1 + random(5);
      case "boolean":
        return random(2) === 0;
      default:
        return random(6) === 0 ? "" : `${named} ${row}`;
    }
  };
  return JSON.stringify(fill(schema, "Value", 1), null, 1);
}
