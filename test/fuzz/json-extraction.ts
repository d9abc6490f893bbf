/** Fuzz target: an answer is extracted or not, but never invented (D2, D3, D5). */

import { isRecord } from "../../src/platform/is-record.ts";
import { type Extraction, extractJsonFromOutput } from "../../src/search/extract-json.ts";
import {
  type AnswerSchema,
  DEEP_SEARCH_SCHEMA,
  EXAMPLE_REPORT,
  isEcho,
  SEARCH_SCHEMA,
  withoutPlaceholders,
} from "../../src/search/schemas.ts";
import { malformedAnswers } from "./answer-seeds.ts";
import { type FuzzTarget, must, mustBeUnpolluted, parsed, stringsIn } from "./target.ts";

export const jsonExtraction: FuzzTarget = {
  name: "JSON extraction",
  seeds: malformedAnswers,
  words: [
    '"success"',
    '"report"',
    '"result"',
    '"verified"',
    '"metadata"',
    '"sources_visited"',
    '"search_queries_used"',
    '"error"',
    "success: true",
    "true,",
    "false,",
    "```json\n",
    "```",
    "&quot;",
    '\\"',
    '"""',
    '" + "',
    "[cite: 1]",
    "null",
    "lorem ipsum",
    "your report here",
  ],
  open: () => ({
    check: (input) => {
      const outcomes = [SEARCH_SCHEMA, DEEP_SEARCH_SCHEMA].map((schema) => checkOne(input, schema));
      const cut = extractJsonFromOutput(input, SEARCH_SCHEMA, { cut: true });
      must(cut.kind === "invalid" || !cut.repaired, "D5: what was cut off is not repaired.");
      mustBeUnpolluted();
      return `${outcomes.join()} ${wordOf(cut)}`;
    },
  }),
};

const wordOf = (found: Extraction): string =>
  found.kind === "valid" ? `valid ${found.repaired} ${found.answer.success}` : found.reason;

function checkOne(input: string, schema: AnswerSchema): string {
  const found = extractJsonFromOutput(input, schema);
  const evidence = evidenceOf(withoutInvisibleMarks(input));
  if (found.kind === "invalid") {
    must(occurs(found.bestText, evidence), "E6: the best text occurs in the output.");
  } else {
    const { answer } = found;
    must(typeof answer.success === "boolean", "D2: success is true or false.");
    must(!answer.success || (answer.report ?? "").trim() !== "", "D2: a success has a report.");
    must(
      !answer.success || schema.name === "search" || answer.verified !== undefined,
      "D2: deep_search is verified or not.",
    );
    must(!answer.success || answer.report?.trim() !== EXAMPLE_REPORT, "D3: the example is no answer.");
    for (const text of stringsIn(answer))
      must(occurs(text, evidence), `D2: ${JSON.stringify(text)} occurs in the output.`);
  }
  mustTakeWholeAnswer(input, schema, found);
  return wordOf(found);
}

/** They are removed before anything is read, also from the middle of an escape. */
const withoutInvisibleMarks = (text: string): string => text.replaceAll(/[\uFEFF\u200B\u2060]/g, "");

/** Output that is one undamaged answer is returned unchanged. */
function mustTakeWholeAnswer(input: string, schema: AnswerSchema, found: Extraction): void {
  // Backspaces and form feeds are read as the beginning of a LaTeX command.
  if (/\\[bf]/.test(input)) return;
  const value = parsed(withoutInvisibleMarks(input));
  const answer = isRecord(value) ? schema.parse(value) : undefined;
  if (answer?.success !== true || isEcho(answer, undefined)) return;
  must(found.kind === "valid" && !found.repaired, "D1: a whole answer needs no repair.");
  must(
    JSON.stringify(found.answer) === JSON.stringify(withoutPlaceholders(answer)),
    "D1: a whole answer is taken as it is.",
  );
}

/** The output with its escapes decoded, also those completed by joining strings with a plus sign. */
const evidenceOf = (output: string): string =>
  solid(spelledOut(output) + (/"\s*\+\s*"/.test(output) ? spelledOut(output.replaceAll(/"\s*\+\s*"/g, "")) : ""));

const spelledOut = (output: string): string =>
  output.replaceAll(
    /(?<!\\)\\+u([0-9a-f]{4})/gi,
    (whole, code: string) => whole + String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Extraction may remove punctuation, escapes and white space. */
const solid = (text: string): string => text.replaceAll(/[^A-Za-z0-9\u00C0-\uFFFF]|[\u2000-\u206F\u3000\uFEFF]/g, "");

/** Whether the characters occur in this order, with others between them. */
function occurs(text: string, evidence: string): boolean {
  const wanted = solid(text);
  if (evidence.includes(wanted)) return true;
  let at = -1;
  for (let index = 0; index < wanted.length; index += 1) {
    at = evidence.indexOf(wanted.charAt(index), at + 1);
    if (at === -1) return false;
  }
  return true;
}
