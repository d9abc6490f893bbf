/** A run in words and numbers: its name and kind, whether it is in progress, times, durations and amounts of money. */

import { durationText } from "../../../platform/duration.ts";
import { KIND_NAMES } from "../../../runs/run.ts";
import type { RunHead } from "../../../operations/view/run-view.ts";

/** What a run is called: its title, or else its question. */
export const nameOf = ({ title, query }: Pick<RunHead, "title" | "query">): string => title ?? query;

export const kindName = ({ kind, followup_context: context, is_table: isTable, imported }: RunHead): string =>
  imported === true ? "Imported" : isTable === true ? "Table" : KIND_NAMES[context === undefined ? kind : "followup"];

const UNFINISHED: RunHead["status"][] = ["pending", "running", "running_async"];

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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A clock slightly behind the server's must not show a time in the future. */
export function ago(at: number, now: number): string {
  const past = Math.max(0, now - at);
  if (past < MINUTE) return "just now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  if (past < 7 * DAY) return `${Math.floor(past / DAY)} d ago`;
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

export const exactTime = (at: string): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "full", timeStyle: "medium" });

/** Amounts below a cent are not shown as zero. */
export function money(usd: number): string {
  if (usd > 0 && usd < 0.01) return "<$0.01";
  return usd.toLocaleString("en-US", { style: "currency", currency: "USD" });
}

/** From one amount to another, as they are shown; undefined if both are shown the same. */
export const rangeText = (min: string, max: string): string | undefined =>
  min === max ? undefined : `${min} to ${max}`;

/** An amount with its marks: `≥` for a lower bound, `≈` if a model was priced by its family. */
export function markedMoney(usd: number, { cost_incomplete, cost_estimated }: CostMarks): string {
  const mark = cost_incomplete === true ? "≥ " : cost_estimated === true ? "≈ " : "";
  return mark + money(usd);
}

interface CostMarks {
  cost_incomplete?: boolean | undefined;
  cost_estimated?: boolean | undefined;
}

/** The marks as text. */
export function costRemark({ cost_incomplete, cost_estimated }: CostMarks): string | undefined {
  const remarks = [
    ...(cost_incomplete === true ? ["At least: a part has no known price."] : []),
    ...(cost_estimated === true
      ? ["Estimated: a model is not in the price list; its family's highest price is used."]
      : []),
  ];
  return remarks.length === 0 ? undefined : remarks.join(" ");
}
