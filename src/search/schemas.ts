/**
 * Schemas of research answers for validation, examples of them for prompts, and the detection of answers that only repeat
 * the prompt or its example.
 */

import { z } from "zod";
import { isRecord } from "../platform/is-record.ts";
import { checksField } from "./checks/check.ts";
import { isBracketed, isEchoOf, isPlaceholder } from "../reports/gates/result-gates.ts";

const strings = z
  .array(z.unknown())
  .catch([])
  .transform((items) => items.filter((item): item is string => typeof item === "string"));

const metadata = z
  .object({ sources_visited: strings.default([]), search_queries_used: strings.default([]) })
  .catch({ sources_visited: [], search_queries_used: [] })
  .default({ sources_visited: [], search_queries_used: [] });

/** Some models write `result` instead of `report`. */
function reportField(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  const { report, result, success, verified, checks, metadata: rest, error } = answer;
  return { success, verified, report: report ?? result, checks, metadata: rest, error };
}

const researchAnswer = z.object({
  success: z.boolean(),
  verified: z.boolean().optional().catch(undefined),
  report: z.string().optional().catch(undefined),
  checks: checksField,
  metadata,
  error: z.string().optional().catch(undefined),
});

const hasReportIfSuccessful = (answer: { success: boolean; report?: string | undefined }): boolean =>
  !answer.success || (answer.report ?? "").trim() !== "";

/** Answers of `search` and `deep_research` (D2). */
const searchAnswer = z.preprocess(reportField, researchAnswer).refine(hasReportIfSuccessful);

/** Answers of a `deep_search` round (D2): a report needs a verdict, a refusal does not. */
const deepSearchAnswer = searchAnswer.refine((answer) => !answer.success || answer.verified !== undefined);

export type ResearchAnswer = z.infer<typeof searchAnswer>;

export interface AnswerSchema {
  name: "search" | "deep_search";
  parse: (value: unknown) => ResearchAnswer | undefined;
  /** A complete answer for prompts. Its texts are placeholders that no real answer contains. */
  example: string;
}

const EXAMPLE_METADATA = {
  sources_visited: ["<address of a page you used>", "<address of another page>"],
  search_queries_used: ["<search query you used>", "<another search query>"],
};

export const EXAMPLE_REPORT = "<your whole report in Markdown>";

export const SEARCH_SCHEMA: AnswerSchema = {
  name: "search",
  parse: (value) => searchAnswer.safeParse(value).data,
  example: JSON.stringify({ success: true, report: EXAMPLE_REPORT, metadata: EXAMPLE_METADATA }, null, 2),
};

export const DEEP_SEARCH_SCHEMA: AnswerSchema = {
  name: "deep_search",
  parse: (value) => deepSearchAnswer.safeParse(value).data,
  example: JSON.stringify(
    { success: true, verified: false, report: EXAMPLE_REPORT, metadata: EXAMPLE_METADATA },
    null,
    2,
  ),
};

const EXAMPLE_CHECK = {
  claim: 1,
  verdict: "<supported, weak, contradicted, unsupported or unreadable>",
  page: 1,
  quote: "<the sentence of the page>",
};

/** Answers of a verification round that was given claims to check. Checks come first, so that the report follows them. */
export const VERIFY_SCHEMA: AnswerSchema = {
  ...DEEP_SEARCH_SCHEMA,
  // One line per check: a model copies the layout, and indentation is paid for.
  example: DEEP_SEARCH_SCHEMA.example.replace(
    '"verified"',
    `"checks": [\n    ${JSON.stringify(EXAMPLE_CHECK)}\n  ],\n  "verified"`,
  ),
};

export function isEcho(answer: Pick<ResearchAnswer, "success" | "report">, prompt: string | undefined): boolean {
  if (!answer.success) return false;
  const report = answer.report ?? "";
  if (report.includes(EXAMPLE_REPORT) && report.length < 2 * EXAMPLE_REPORT.length) return true;
  if (isPlaceholder(report)) return true;
  if (/^\s*# Task: /.test(report) || containsMarkers(report, prompt)) return true;
  return prompt !== undefined && isEchoOf(report, prompt);
}

const MARKER = /-----(?:BEGIN|END) (?:QUESTION|TOPIC|CURRENT RESULT|CLAIMS)(?: (\w+))?-----/;

/** Checks for this prompt's random marker, because a question may be about such markers. */
function containsMarkers(report: string, prompt: string | undefined): boolean {
  const fence = prompt === undefined ? undefined : MARKER.exec(prompt)?.[1];
  return fence === undefined ? MARKER.test(report) : report.includes(fence);
}

/** Removes the example's entries from lists. */
export function withoutPlaceholders(answer: ResearchAnswer): ResearchAnswer {
  const real = (items: string[]): string[] => items.filter((item) => item.trim() !== "" && !isBracketed(item));
  const { sources_visited, search_queries_used } = answer.metadata;
  return {
    ...answer,
    metadata: {
      sources_visited: real(sources_visited),
      search_queries_used: real(search_queries_used),
    },
  };
}
