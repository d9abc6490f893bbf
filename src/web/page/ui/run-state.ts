/** A run in words and numbers: its kind, whether it is in progress, and how long it took. */

import { durationText } from "../../../platform/duration.ts";
import type { RunHead } from "../../../operations/view/run-view.ts";

export const KIND_NAMES: Record<RunHead["kind"] | "followup", string> = {
  search: "Search",
  deep_search: "Deep search",
  deep_research: "Quick report",
  agent: "Deep Research",
  followup: "Follow-up",
};

export const kindName = ({ kind, followup_context: context, is_table: isTable }: RunHead): string =>
  isTable === true ? "Table" : KIND_NAMES[context === undefined ? kind : "followup"];

export const UNFINISHED: RunHead["status"][] = ["pending", "running", "running_async"];

export const isUnfinished = (status: RunHead["status"]): boolean => UNFINISHED.includes(status);

/** Whether the run has ended: not in progress, and not waiting for the user. */
export const hasEnded = (status: RunHead["status"]): boolean =>
  !isUnfinished(status) && status !== "start_unknown" && status !== "awaiting_approval";

type Times = Pick<RunHead, "created_at" | "started_at" | "completed_at">;

export const elapsed = ({ created_at, started_at }: Times, now: number): number =>
  now - Date.parse(started_at ?? created_at);

/** Undefined before the end. */
export const durationOf = (run: Times): string | undefined =>
  run.completed_at === undefined ? undefined : durationText(elapsed(run, Date.parse(run.completed_at)));
