/** A stored report as HTML for the page. Not an operation, because models read Markdown. */

import type { ReportParts } from "../../reports/html/html.ts";
import { tableIn } from "../../reports/table/table.ts";
import { frameHeight } from "../../reports/suggestions/frame.ts";
import { verificationLine } from "../../reports/verification.ts";
import type { Database } from "../../store/database.ts";
import { checkedCitations } from "../citations/verify-citations.ts";
import { wishesAnswer, wishesIn } from "../question/wishes.ts";
import { factsOf } from "../view/whole-view.ts";
import { joinNotes } from "./answer-text.ts";
import { finishedReport } from "./after-failure.ts";

interface ReportPage extends ReportParts {
  task_id: string;
  partial: boolean;
  verified?: boolean;
  verified_in_round?: number;
  /** Sentences that a cited page contradicts. */
  conflicts?: number;
  /** How many claims were confirmed, in one line. */
  verification?: string;
  note?: string;
  /** The report is a table, which can be downloaded as data. */
  has_table?: true;
  /** Google's Search Suggestions, for a sandboxed frame. */
  suggestions?: SuggestionsView;
}

interface SuggestionsView {
  /** Google's markup, filtered by an allow-list, for a frame without scripts. */
  html: string;
  height: number;
}

/** The report as the page shows it. */
export async function reportPage(
  db: Database,
  { owner, task_id }: { owner: string; task_id: string },
): Promise<ReportPage> {
  const { run, result } = await finishedReport(db, owner, task_id);
  // Loaded here, because the Markdown reader would slow down every start.
  const [{ cachedReportParts }, { onOneLine }] = await Promise.all([
    import("../../reports/html/html.ts"),
    import("../../reports/report-facts.ts"),
  ]);
  const { verified, verified_in_round: round, verification, note: stored } = factsOf(result);
  const note = joinNotes([stored, wishesAnswer(wishesIn(run.options), result.sources)?.note]);
  const suggestions = await suggestionsView(result.searchSuggestions);
  const { conflict } = (await checkedCitations(db, { taskId: run.taskId, report: result.report })) ?? {};
  return {
    task_id: run.taskId,
    ...(await cachedReportParts({ ...result, query: run.query })),
    partial: result.partial,
    ...(tableIn(result.metadata) === undefined ? {} : { has_table: true as const }),
    ...(suggestions === undefined ? {} : { suggestions }),
    ...(verified === undefined ? {} : { verified }),
    ...(verified === true && round !== undefined ? { verified_in_round: round } : {}),
    ...(conflict === undefined ? {} : { conflicts: conflict }),
    ...(verification === undefined ? {} : { verification: verificationLine(verification) }),
    ...(note === undefined ? {} : { note: onOneLine(note) }),
  };
}

async function suggestionsView(received: readonly string[] = []): Promise<SuggestionsView | undefined> {
  if (received.length === 0) return undefined;
  const { readSuggestions } = await import("../../reports/suggestions/chips.ts");
  const { html, chips } = readSuggestions(received);
  return chips.length === 0 ? undefined : { html, height: frameHeight(received.length) };
}
