/** Fills in a JSON schema with plain values, for requests like those of the Gemini CLI's model router. */

import { z } from "zod";

interface Schema {
  type?: string | undefined;
  enum?: unknown[] | undefined;
  properties?: Record<string, unknown> | undefined;
}

const schemaShape = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

// The cheap model and no further turn: the choice for a simple question.
const PREFERRED: readonly unknown[] = ["flash", "user"];

const LOW_SCORE = 10;

function fill(schema: Schema): unknown {
  if (schema.enum !== undefined) {
    return schema.enum.find((value) => PREFERRED.includes(value)) ?? schema.enum[0];
  }
  switch (schema.type?.toLowerCase()) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, value]) => [name, fillSchema(value)]),
      );
    case "array":
      return [];
    case "integer":
    case "number":
      return LOW_SCORE;
    case "boolean":
      return false;
    default:
      return "Simulated.";
  }
}

export function fillSchema(schema: unknown): unknown {
  return fill(schemaShape.catch({}).parse(schema));
}
