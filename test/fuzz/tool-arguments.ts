/**
 * Fuzz target: arguments of a tool are accepted or rejected with our own message, never with an unexpected error (L1,
 * T24).
 */

import { isErrorCode } from "../../src/errors.ts";
import { OPERATIONS } from "../../src/operations/catalog.ts";
import { perform } from "../../src/operations/perform.ts";
import { call, CLOSED, closedDeps } from "./closed-deps.ts";
import { type FuzzTarget, must, mustBeUnpolluted, mustBeVisible, parsed, stringsIn } from "./target.ts";

const ID = "3f2b8c1e-9a4d-4f6b-8e2a-1c5d7e9f0a2b";
const MAX_ERROR_CHARACTERS = 2_000;

export const toolArguments: FuzzTarget = {
  name: "tool arguments",
  seeds: [
    '{"query":"How deep is the lake?"}',
    `{"task_id":"${ID}","output_dir":"../x","filename_prefix":"a/b","include_metadata":true,"include_sources":false}`,
    `{"task_id":"${ID}","format":"full","offset":0,"limit":100}`,
    '{"topic":"lakes","depth":"deep","model":"gemini"}',
    '{"status":"completed","limit":10,"cursor":"x","__proto__":{"a":1}}',
    `{"query":"lakes and rivers","agent":"deep-research-preview-04-2026","max_wait_ms":1000,"enable_notifications":true,"force_new":false}`,
    `[null,1,"x"]`,
    JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_unused, n) => [`no_such_parameter_${n}`, n]))),
  ],
  words: [
    ...new Set(OPERATIONS.flatMap(({ input }) => Object.keys(input.shape)).map((name) => `"${name}":`)),
    ID,
    '"__proto__":{}',
    '"constructor":1',
    "1e999",
    "-0",
    "null",
    '"\\u0000"',
    '"\\ud800"',
    ",",
  ],
  open: () => ({
    check: async (input) => {
      const value = parsed(input);
      const outcomes = await Promise.all(OPERATIONS.map((operation) => checkCall(operation, value)));
      mustBeUnpolluted();
      return outcomes.join("");
    },
  }),
};

async function checkCall(operation: (typeof OPERATIONS)[number], value: unknown): Promise<string> {
  const { failed, structured, text } = await perform(operation, closedDeps, { input: value, call });
  for (const string of [...stringsIn(structured), text]) mustBeVisible(string, `${operation.name}'s answer`);
  must(operation.output.safeParse(structured).success, `${operation.name} answers in the form it announces.`);
  if (!failed) return "+";
  const { code, message } = structured.error;
  must(isErrorCode(code) && code !== "UNEXPECTED_ERROR", `${operation.name}: ${code}.`);
  must(message.endsWith("."), "an error is a sentence.");
  must(text.length < MAX_ERROR_CHARACTERS, "an error is short.");
  const accepted = operation.input.safeParse(value ?? {}).success;
  must(accepted || code.startsWith("INVALID_"), `what ${operation.name} does not take is refused.`);
  return message === CLOSED ? "c" : accepted ? "a" : "-";
}
