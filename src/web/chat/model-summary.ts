/** The short text about a report that the run card adds to the model's context when the user asks for it. */

import { CAUTION } from "../../operations/operation.ts";
import { oneLine } from "../../platform/clean-text.ts";
import type { Source } from "../../reports/report.ts";
import { outlineOf, sectionsOf } from "../../reports/sections.ts";

const MAX_OPENING_CHARACTERS = 1_200;
const MAX_SECTIONS = 20;

interface Summarised {
  taskId: string;
  query: string;
  report: string;
  sources: readonly Source[];
  partial: boolean;
}

/** Question, opening and sections, and how to read the rest: a whole report would fill the context. */
export function modelSummary({ taskId, query, report, sources, partial }: Summarised): string {
  const sections = outlineOf(sectionsOf(report)).slice(0, MAX_SECTIONS);
  return [
    `The user chose this research for the conversation. ${CAUTION}`,
    `Question: ${oneLine(query)}`,
    `task_id: ${taskId}${partial ? " (partial report)" : ""}, ${report.length} characters, ${sources.length} sources`,
    ...(sections.length < 2
      ? []
      : [`Sections: ${sections.map(({ section, title }) => `${section} ${oneLine(title)}`).join("; ")}`]),
    `Opening: ${openingOf(report)}`,
    "get_research_results with this task_id reads all of it, or one section.",
  ].join("\n");
}

function openingOf(report: string): string {
  const text = oneLine(report.replaceAll(/^#{1,6}\s+.*$/gm, ""));
  const characters = Array.from(text);
  return characters.length <= MAX_OPENING_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_OPENING_CHARACTERS).join("")}…`;
}
