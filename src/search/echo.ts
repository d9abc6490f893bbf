/** Detects answers that only repeat the prompt or its example. */

import { isBracketed, isEchoOf, isPlaceholder } from "../reports/gates/placeholder.ts";
import { EXAMPLE_REPORT, type ResearchAnswer } from "./schemas.ts";

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
