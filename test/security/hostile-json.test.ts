import { expect, test } from "vitest";
import { readInteraction } from "../../src/gemini/interactions/reader.ts";
import { resultOf } from "../../src/runs/poll/agent-result.ts";
import { HOSTILE_JSON, tryHostileJson } from "./hostile-json.ts";

test("no JSON of a caller, a model, Google or the settings changes the prototype or ends the server (T24)", async (context) => {
  const { tried, broken } = await tryHostileJson(context);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(120);
});

test("no JSON in an interaction changes the prototype (T24)", () => {
  const own = Object.getOwnPropertyNames(Object.prototype);
  const fields = ["steps", "outputs", "usage", "status", "errors", "__proto__", "constructor"];
  for (const value of HOSTILE_JSON) {
    for (const field of fields) {
      const interaction = readInteraction(JSON.parse(`{"id":"x","status":"completed","${field}":${value}}`));
      if (interaction !== undefined) resultOf(interaction, { partial: false });
      readInteraction(
        JSON.parse(`{"id":"x","steps":[{"type":"model_output","content":[${value}],"${field}":${value}}]}`),
      );
    }
  }
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(own);
  expect({}).not.toHaveProperty("polluted");
});
