/** Tells an answer from a repetition of what the model was shown. */

import { EXAMPLE_REPORT, type ResearchAnswer } from "./schemas.ts";

const BRACKETED = /^\s*(?:<[^<>]*>|\[[^[\]]*\]|\{\{?[^{}]*\}?\})\s*$/;
const NO_WORDS = /^[\s\p{P}\p{S}]*$/u;
const PLACEHOLDER =
  /^\W*(?:string|text|report|result|markdown|placeholder|todo|tbd|n\/?a|none|null|undefined|lorem ipsum.*(?!.)|(?:your|the|full|final|complete|updated|whole|insert|write|put)\b[\w\s,'-]{0,60}\b(?:report|result|answer|here|markdown)(?:\s+(?:goes\s+)?(?:here|below))?)\W*$/iu;

/** Shorter repetitions happen by chance. */
const SHORTEST_ECHO = 30;

export function isEcho(answer: ResearchAnswer, prompt: string | undefined): boolean {
  if (!answer.success) return false;
  const report = answer.report ?? "";
  if (report.includes(EXAMPLE_REPORT) && report.length < 2 * EXAMPLE_REPORT.length) return true;
  if (BRACKETED.test(report) || NO_WORDS.test(report) || PLACEHOLDER.test(report)) return true;
  if (/^\s*# Task: /.test(report) || holdsMarks(report, prompt)) return true;
  if (prompt === undefined) return false;
  const said = words(report);
  return said.length >= SHORTEST_ECHO && words(prompt).includes(said);
}

const MARK = /-----(?:BEGIN|END) (?:QUESTION|TOPIC|CURRENT RESULT)(?: (\w+))?-----/;

/** The marks around the question, by the random word of this very prompt: a question may be about such marks. */
function holdsMarks(report: string, prompt: string | undefined): boolean {
  const fence = prompt === undefined ? undefined : MARK.exec(prompt)?.[1];
  return fence === undefined ? MARK.test(report) : report.includes(fence);
}

const words = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();

/** A list may still hold the example's entries beside real ones. */
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
