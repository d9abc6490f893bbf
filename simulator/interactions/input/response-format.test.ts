/** Which response formats the simulator refuses, as Google would, and how it answers one that it accepts. */

import { expect, test } from "vitest";
import { tableFormat } from "../../../src/gemini/interactions/request-body.ts";
import { refusalOfFormat, structuredAnswer } from "./response-format.ts";

const JSON_TEXT = { type: "text" as const, mime_type: "application/json" };
const ofModel = { isAgent: false };
const columns = (count: number): string[] => Array.from({ length: count }, (_, index) => `Column ${index}`);
const nested = (depth: number): Record<string, unknown> =>
  depth === 0 ? { type: "string" } : { type: "array", items: nested(depth - 1) };

test("a table of 20 columns is accepted from a model, and refused for the agent, which has no structured output (S7)", () => {
  expect(refusalOfFormat(tableFormat(columns(20)), ofModel)).toBeUndefined();
  expect(refusalOfFormat(tableFormat(columns(1)), { isAgent: true })).toMatchObject({ error: { code: 400 } });
});

test.each([
  [tableFormat(columns(200)), "schema-too-complex"],
  [{ ...JSON_TEXT, schema: nested(12) }, "schema-too-deep"],
  [{ type: "text" as const, schema: { type: "object" } }, "format-mime"],
  [{ type: "image" as const }, "format-unsupported"],
])("a format is refused with 400: %#, %s", (format, name) => {
  expect(refusalOfFormat(format, ofModel)).toMatchObject({ name, error: { code: 400, status: "INVALID_ARGUMENT" } });
});

test("an answer fits its schema, and the same request gets the same answer (S7)", () => {
  const { schema } = tableFormat(["Maker", "Price"]);
  const answer = structuredAnswer(schema, "a question");
  expect(structuredAnswer(schema, "a question")).toBe(answer);
  const { rows } = JSON.parse(answer);
  expect(rows.length).toBeGreaterThan(1);
  for (const row of rows) {
    expect(row).toEqual({
      c1: { value: expect.stringMatching(/^(?:Maker \d)?$/), sources: expect.arrayContaining([expect.any(Number)]) },
      c2: { value: expect.stringMatching(/^(?:Price \d)?$/), sources: expect.arrayContaining([expect.any(Number)]) },
    });
  }
});
