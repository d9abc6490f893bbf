/** The contract between the run card in a chat and the server: answers of the tools that only the card calls. */

import type { RunLive, TimelineEntry } from "../operations/view/run-view.ts";
import type { PlanView, ReportView } from "./wire.ts";

/** Of `view_run`. */
export interface RunCardView {
  run: RunLive;
  /** New ones, and always the milestones; merged by id. */
  entries: TimelineEntry[];
  /** While it waits for approval. */
  plan?: CardPlan | undefined;
}

export type CardPlan = Pick<PlanView, "text" | "estimated_cost" | "expires_at">;

export interface RunCardAnswer extends RunCardView {
  task_id: string;
  /** For the next call. */
  cursor: string;
}

/** Of `view_report`, by its `form`. */
export interface ReportForms {
  html: { report?: ReportView; html?: string };
  picture: { mime_type: string; data: string };
  markdown: { document: string; file_name: string };
  summary: { summary: string };
}
