/** Detects answers that only repeat the prompt or its example. */

import { EXAMPLE_REPORT, type ResearchAnswer } from "./schemas.ts";

const BRACKETED = /^\s*(?:<[^<>]*>|\[[^[\]]*\]|\{\{?[^{}]*\}?\})\s*$/;
const NO_WORDS = /^[\s\p{P}\p{S}]*$/u;
const PLACEHOLDER =
  /^\W*(?:string|text|report|result|markdown|placeholder|todo|tbd|n\/?a|none|null|undefined|lorem ipsum.*(?!.)|(?:your|the|full|final|complete|updated|whole|insert|write|put)\b[\w\s,'-]{0,60}\b(?:report|result|answer|here|markdown)(?:\s+(?:goes\s+)?(?:here|below))?)\W*$/iu;

/** Shorter repetitions may be coincidental. */
const MIN_ECHO_CHARACTERS = 30;

export function isEcho(answer: Pick<ResearchAnswer, "success" | "report">, prompt: string | undefined): boolean {
  if (!answer.success) return false;
  const report = answer.report ?? "";
  if (report.includes(EXAMPLE_REPORT) && report.length < 2 * EXAMPLE_REPORT.length) return true;
  if (BRACKETED.test(report) || NO_WORDS.test(report) || PLACEHOLDER.test(report)) return true;
  if (/^\s*# Task: /.test(report) || containsMarkers(report, prompt)) return true;
  if (prompt === undefined) return false;
  const text = normalised(report);
  return text.length >= MIN_ECHO_CHARACTERS && normalised(prompt).includes(text);
}

const MARKER = /-----(?:BEGIN|END) (?:QUESTION|TOPIC|CURRENT RESULT|CLAIMS)(?: (\w+))?-----/;

/** Checks for this prompt's random marker, because a question may be about such markers. */
function containsMarkers(report: string, prompt: string | undefined): boolean {
  const fence = prompt === undefined ? undefined : MARKER.exec(prompt)?.[1];
  return fence === undefined ? MARKER.test(report) : report.includes(fence);
}

const normalised = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();

/** Removes the example's entries from lists. */
export function withoutPlaceholders(answer: ResearchAnswer): ResearchAnswer {
  const real = (items: string[]): string[] => items.filter((item) => item.trim() !== "" && !BRACKETED.test(item));
  const { sources_visited, search_queries_used } = answer.metadata;
  return {
    ...answer,
    metadata: {
      sources_visited: real(sources_visited),
      search_queries_used: real(search_queries_used),
    },
  };
}
