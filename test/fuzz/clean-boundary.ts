/**
 * Fuzz target: output contains no invisible text that a terminal or model interprets, and loses nothing else (T17,
 * T26).
 */

import { z } from "zod";
import { AppError } from "../../src/errors.ts";
import { defineOperation, outputSchema } from "../../src/operations/operation.ts";
import { perform } from "../../src/operations/perform.ts";
import { cleanText, oneLine } from "../../src/platform/clean-text.ts";
import { call, closedDeps } from "./closed-deps.ts";
import { type FuzzTarget, must, mustBeVisible, stringsIn } from "./target.ts";

export const cleanBoundary: FuzzTarget = {
  name: "clean text",
  seeds: [
    "plain text\twith\nlines",
    "\u001B[31mred\u001B[0m \u001B]52;c;cHc=\u0007 \u001B]8;;https://x\u001B\\link",
    "a\r\nb\rc\u0085d",
    "tag \u{E0001}\u{E0068}\u{E0069} \uDB40\u200B\uDC41 \uD83D\u200B\uDE00",
    "\u202Eevil\u2066x\u2069 \u061C \uFEFF \u200B",
    "👩‍👩‍👧 می‌خواهم é 日本",
  ],
  words: [
    "\u001B",
    "\u001B]",
    "\u001B[",
    "\u0007",
    "\u009B",
    "\uDB40",
    "\uDC41",
    "\u200B",
    "\u200D",
    "\u{E0041}",
    "\u{E0101}",
    "\r",
    "\n",
    "m",
    "0;",
  ],
  open: () => ({
    check: async (input) => {
      const clean = cleanText(input);
      mustBeVisible(clean, "cleaned text");
      must(cleanText(clean) === clean, "cleaning twice is cleaning once.");
      must(!isPlain(input) || clean === input, "text with nothing hidden in it stays as it is.");
      must(oneLine(input).length <= 300 && !oneLine(input).includes("\n"), "a line is one short line.");
      mustBeVisible(oneLine(input), "a line");
      await checkOutcome(input, "answer");
      await checkOutcome(input, "error");
      return `${clean === input} ${clean === ""}`;
    },
  }),
};

/** Not the soft hyphen, the grapheme joiner and the Hangul filler, which are invisible. */
const isPlain = (text: string): boolean =>
  /^[\t\n -~\u00A1-\u00AC\u00AE-\u034E\u0350-\u05FF\u3041-\u3163\u3165-\uD7FF]*$/.test(text);

/** Passes the text through the output boundary, as an answer and as the details of an error. */
async function checkOutcome(text: string, way: "answer" | "error"): Promise<void> {
  const { structured, text: shown } = await perform(saying(way), closedDeps, { input: { text }, call });
  for (const string of stringsIn(structured)) mustBeVisible(string, `structured ${way}`);
  mustBeVisible(shown, `the text of the ${way}`);
}

const saying = (way: "answer" | "error") =>
  defineOperation({
    name: way,
    title: way,
    description: way,
    input: z.strictObject({ text: z.string() }),
    output: outputSchema({ text: z.string() }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    positional: undefined,
    run: async (_deps, { text }) => {
      if (way === "answer") return { success: true, text, list: [text, { deep: text }] };
      throw new AppError({
        code: "EXECUTION_ERROR",
        message: "It failed.",
        details: { best_text: text, deep: [text] },
      });
    },
    toText: ({ text }) => text,
  });
