import { expect, test } from "vitest";
import { fillSchema } from "./json-schema.ts";

test("the schemas of the router and the next-speaker check get the cheap choice", () => {
  const schema = {
    type: "OBJECT",
    properties: {
      complexity_score: { type: "INTEGER" },
      model_choice: { type: "string", enum: ["pro", "flash"] },
      next_speaker: { type: "string", enum: ["model", "user"] },
      reasoning: { type: "STRING" },
      done: { type: "boolean" },
      notes: { type: "array" },
    },
  };
  expect(fillSchema(schema)).toEqual({
    complexity_score: 10,
    model_choice: "flash",
    next_speaker: "user",
    reasoning: "Simulated.",
    done: false,
    notes: [],
  });
});
