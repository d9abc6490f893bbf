/** Formats research as a model would: one fenced JSON block, or one of the typical mistakes. */

import { recoverResearch } from "./correction.ts";
import type { PromptReading } from "./prompt.ts";
import type { Research } from "./research.ts";
import type { AnswerName, Step } from "../scenario.ts";

export interface AnswerText {
  text: string;
  finishReason: string;
}

interface AnswerObject {
  success: boolean;
  checks?: unknown;
  verified?: boolean;
  report?: string;
  metadata?: { sources_visited: string[]; search_queries_used: string[] };
  error?: string;
}

const fenced = (json: string): string => `\`\`\`json\n${json}\n\`\`\``;

/** With one line per check, as in the prompt's example. */
function toJson({ checks, ...answer }: AnswerObject): string {
  const json = JSON.stringify(answer, null, 2);
  if (checks === undefined) return json;
  const lines = Array.isArray(checks) ? checks.map((check) => `\n    ${JSON.stringify(check)}`) : undefined;
  const list = lines === undefined ? JSON.stringify(checks) : `[${lines.join(",")}\n  ]`;
  return json.replace('"verified"', () => `"checks": ${list},\n  "verified"`);
}

function asksForVerdict({ kind, example }: PromptReading): boolean {
  return kind === "deep_search" || kind === "verify" || (example ?? "").includes('"verified"');
}

function verdictOf(answer: AnswerName, research: Research): boolean {
  if (answer === "verified") return true;
  return answer === "unverified" ? false : research.verified;
}

/** A model answers the list of claims, ignores it, or answers it in a form of its own. */
const CHECKS: Record<NonNullable<Step["checks"]>, (checks: Research["checks"]) => unknown> = {
  good: (checks) => checks,
  ignored: () => undefined,
  malformed: (checks) => ({ all: "supported", count: `${checks.length} of them`, [`claim "1"`]: null }),
};

function researchAnswer(step: Step, reading: PromptReading, research: Research): AnswerObject {
  return {
    success: true,
    ...(research.checks.length > 0 && { checks: CHECKS[step.checks ?? "good"](research.checks) }),
    ...(asksForVerdict(reading) && { verified: verdictOf(step.answer, research) }),
    report: research.report,
    metadata: {
      sources_visited: research.pages.map((page) => page.url),
      search_queries_used: research.queries,
    },
  };
}

function correctedAnswer(reading: PromptReading): AnswerObject {
  const found = recoverResearch(reading.invalidOutput ?? "");
  const verdict = asksForVerdict(reading) && { verified: found?.verified ?? false };
  if (found === undefined) {
    return { success: false, ...verdict, error: "The text holds no research." };
  }
  if (!found.success) return { success: false, ...verdict, error: found.error ?? "" };
  return {
    success: true,
    ...verdict,
    report: found.report,
    metadata: { sources_visited: found.sources, search_queries_used: found.queries },
  };
}

function refusal(reading: PromptReading): AnswerObject {
  return {
    success: false,
    ...(asksForVerdict(reading) && { verified: false }),
    error: "No page answers this question.",
  };
}

function prose(answer: AnswerObject): string {
  const { report = answer.error ?? "", metadata } = answer;
  const queries = metadata?.search_queries_used.join("; ") ?? "";
  return `Here is what I found.\n\n${report}\n\nI searched for: ${queries}`;
}

/** Ends in the middle of the report, like an answer at its token limit. */
function truncated(answer: AnswerObject): string {
  const text = fenced(toJson(answer));
  const report = JSON.stringify(answer.report ?? "").slice(1, -1);
  return text.slice(0, text.indexOf(report) + Math.floor(report.length / 2));
}

const FORMATS: Record<AnswerName, (answer: AnswerObject, reading: PromptReading) => string> = {
  good: (answer) => fenced(toJson(answer)),
  verified: (answer) => fenced(toJson(answer)),
  unverified: (answer) => fenced(toJson(answer)),
  prose,
  "trailing-comma": (answer) => fenced(toJson(answer).replaceAll(/(?<=[^{[,\s])(?=\n\s*[}\]])/g, ",")),
  "unescaped-quotes": (answer) => fenced(toJson(answer).replaceAll('\\"', '"')),
  truncated,
  echo: (_, reading) => fenced(reading.example ?? "{}"),
  empty: () => "",
  refusal: (_, reading) => fenced(toJson(refusal(reading))),
  raw: () => "",
};

export function formatAnswer(step: Step, reading: PromptReading, research: Research): AnswerText {
  const answer = reading.kind === "correct_json" ? correctedAnswer(reading) : researchAnswer(step, reading, research);
  return {
    text: step.text ?? FORMATS[step.answer](answer, reading),
    finishReason: step.finish ?? (step.answer === "truncated" ? "MAX_TOKENS" : "STOP"),
  };
}
