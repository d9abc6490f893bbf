/** Renders what changed between two reports: the changed findings first, each with what was said before. */

import type { ReportComparison } from "../../../operations/compare-reports.ts";
import { oneLine } from "../../../platform/clean-text.ts";
import { type AnswerSpace, nextCommands, shortId } from "../answer-view.ts";
import { wrapToWidth } from "../words.ts";

const MAX_TEXT_COLUMNS = 100;

export async function changesView(answer: ReportComparison, space: AnswerSpace): Promise<string> {
  const { message, earlier, changed, added, gone, new_sources: more, gone_sources: fewer } = answer;
  const { paint } = space;
  const columns = Math.min(space.width ?? MAX_TEXT_COLUMNS, MAX_TEXT_COLUMNS);
  const wrap = (text: string, mark = ""): string =>
    wrapToWidth(oneLine(text), columns - mark.length)
      .map((line, index) => (index === 0 ? mark : " ".repeat(mark.length)) + line)
      .join("\n");
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? "" : [paint("strong", title), ...lines].join("\n");
  return [
    wrap(message),
    paint("faint", wrap(`Compared with ${shortId(earlier.task_id)} of ${earlier.created_at.slice(0, 10)}.`)),
    section(
      "Changed",
      changed.map(({ now, before }) => `${paint("bad", wrap(before, "- "))}\n${paint("good", wrap(now, "+ "))}`),
    ),
    section(
      "New",
      added.map((text) => wrap(text, "+ ")),
    ),
    section(
      "No longer said",
      gone.map((text) => wrap(text, "- ")),
    ),
    section(
      "New sources",
      more.map(({ title, url }) => wrap(`${title}: ${url}`, "+ ")),
    ),
    section(
      "Sources that are gone",
      fewer.map(({ title, url }) => wrap(`${title}: ${url}`, "- ")),
    ),
    space.width === undefined
      ? ""
      : nextCommands([["Read the report", `show ${shortId(answer.task_id ?? "")}`]], space),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
