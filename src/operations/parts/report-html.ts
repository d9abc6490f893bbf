/** A stored report as HTML: for the page, and as a file to keep. It is no tool, because models read Markdown. */

import type { ReportHtml } from "../../reports/html/html.ts";
import { frameHeight } from "../../reports/suggestions/frame.ts";
import { findPictures } from "../../runs/picture-store.ts";
import type { Run } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import { finishedReport, reportMetadata } from "../save-research-to-markdown.ts";

export interface ReportPage extends ReportHtml {
  task_id: string;
  partial: boolean;
  verified?: boolean;
  note?: string;
  /** Google's Search Suggestions, for a sandboxed frame. */
  suggestions?: SuggestionsView;
}

interface SuggestionsView {
  /** Google's markup, held to an allow-list; to be shown in a frame without scripts. */
  html: string;
  height: number;
}

/** What the page shows of a report. */
export async function reportPage(
  db: Database,
  { owner, task_id }: { owner: string; task_id: string },
): Promise<ReportPage> {
  const { run, result } = await finishedReport(db, owner, task_id);
  // The Markdown reader is loaded by whoever reads a report, not by every server that starts.
  const [{ cachedReportHtml }, { onOneLine }] = await Promise.all([
    import("../../reports/html/cache.ts"),
    import("../../reports/report-facts.ts"),
  ]);
  const { verified, note } = result.metadata;
  const suggestions = await suggestionsView(result.searchSuggestions);
  return {
    task_id: run.taskId,
    ...cachedReportHtml({ ...result, query: run.query }),
    partial: result.partial,
    ...(suggestions === undefined ? {} : { suggestions }),
    ...(typeof verified === "boolean" ? { verified } : {}),
    ...(typeof note === "string" ? { note: onOneLine(note) } : {}),
  };
}

async function suggestionsView(received: readonly string[] = []): Promise<SuggestionsView | undefined> {
  if (received.length === 0) return undefined;
  const { readSuggestions } = await import("../../reports/suggestions/chips.ts");
  const { html, chips } = readSuggestions(received);
  return chips.length === 0 ? undefined : { html, height: frameHeight(received.length) };
}

/** The file, with what is known of its run. */
export async function reportHtmlDocument(
  db: Database,
  { owner, task_id, now }: { owner: string; task_id: string; now: number },
): Promise<{ run: Run; html: string }> {
  const { run, result } = await finishedReport(db, owner, task_id);
  const { renderHtmlDocument } = await import("../../reports/html/document.ts");
  const html = renderHtmlDocument({
    ...result,
    pictures: await findPictures(db, task_id),
    query: run.query,
    partial: result.partial ? run.status : undefined,
    metadata: reportMetadata(run, result, now),
  });
  return { run, html };
}
