/** Renders the answers about a run: started, status, cancelled, resumed, saved, and the estimate before it. */

import { minutesText } from "../../../costs/estimate.ts";
import type { cancelResearch } from "../../../operations/cancel-research.ts";
import type { checkResearchStatus } from "../../../operations/check-research-status.ts";
import type { estimateResearchCost } from "../../../operations/estimate-research-cost.ts";
import type { askFollowup } from "../../../operations/followup/ask-followup.ts";
import type { Results } from "../../../operations/get-research-results.ts";
import type { OutputOf } from "../../../operations/operation.ts";
import type { exportLibrary } from "../../../operations/library/export-library.ts";
import type { importLibrary } from "../../../operations/library/import-library.ts";
import type { organizeRun } from "../../../operations/organize-run.ts";
import { materialTexts } from "../../../operations/view/sent-material.ts";
import type { resumeResearch } from "../../../operations/resume-research.ts";
import type { saveReport } from "../../../operations/save-report.ts";
import type { startDeepResearch } from "../../../operations/start-deep-research.ts";
import { oneLine } from "../../../platform/clean-text.ts";
import { countOf } from "../../../platform/count.ts";
import { numberedDocument } from "../../../reports/document/document.ts";
import { timeLeftText } from "../../../runs/activity/time-left.ts";
import { type AnswerSpace, approvalLine, idFor, nextCommands, planCommands, shortId } from "../answer-view.ts";
import { formatCost, formatDuration } from "../durations.ts";
import { formatDollars } from "../../../costs/dollars.ts";
import { reportLines } from "../markdown/report.ts";
import { tilde } from "../home-path.ts";
import { stateOf, totalText } from "../run-frame.ts";
import { cutToWidth } from "../text-width.ts";
import { wrapToWidth } from "../words.ts";
import { resultsView } from "./results-view.ts";

export type FollowedUp = OutputOf<typeof askFollowup>;
export type Started = OutputOf<typeof startDeepResearch>;
export type Status = OutputOf<typeof checkResearchStatus>;
export type Estimated = OutputOf<typeof estimateResearchCost>;
export type Cancelled = OutputOf<typeof cancelResearch>;
export type Exported = OutputOf<typeof exportLibrary>;
export type Imported = OutputOf<typeof importLibrary>;
export type Organized = OutputOf<typeof organizeRun>;
export type Resumed = OutputOf<typeof resumeResearch>;
export type Saved = OutputOf<typeof saveReport>;

const MINUTE_MS = 60_000;
const MAX_TEXT_COLUMNS = 100;

type Commands = readonly (readonly [purpose: string, command: string])[];

/** Lines of text, then the commands; elsewhere than on a terminal ids are whole and no commands follow. */
function textView(lines: readonly string[], commands: Commands, space: AnswerSpace): string {
  const { width } = space;
  const shown = lines.filter((line) => line !== "");
  if (width === undefined) return shown.join("\n");
  const wrapped = shown.flatMap((line) => wrapToWidth(line, Math.min(width, MAX_TEXT_COLUMNS)));
  return [wrapped.join("\n"), nextCommands(commands, space)].filter((part) => part !== "").join("\n\n");
}

export async function startedView({ material, plan, ...answer }: Started, space: AnswerSpace): Promise<string> {
  if (answer.results === undefined && plan !== undefined) return planView({ ...answer, plan }, space);
  const sent = materialTexts(material).map((line) => `Sent with the question: ${oneLine(line)}`);
  return begunView({ ...answer, what: "Research", sent, more: material === undefined ? {} : { material } }, space);
}

export async function followupView(
  { parent_task_id: parent, context, ...answer }: FollowedUp,
  space: AnswerSpace,
): Promise<string> {
  const what = `Follow-up${parent === undefined ? "" : ` on ${idFor(parent, space)}`}`;
  const parentField = parent === undefined ? {} : { follow_up_of: { task_id: parent, query: "" } };
  return begunView({ ...answer, what, sent: [], more: { context, ...parentField } }, space);
}

interface Begun extends Pick<Started, "task_id" | "success" | "status" | "notice" | "joined"> {
  results?: Started["results"] | FollowedUp["results"];
  what: string;
  sent: readonly string[];
  /** Fields of the results that only the answer of the call has. */
  more: Partial<Results>;
}

/** Its report where it has ended within the call, else that it goes on. */
async function begunView(
  { task_id: taskId, success, status, results, notice, joined, what, sent, more }: Begun,
  space: AnswerSpace,
): Promise<string> {
  if (results !== undefined) {
    const text = await resultsView({ ...results, ...more, success, status, task_id: taskId, query: "" }, space);
    return notice === undefined ? text : `${notice}\n\n${text}`;
  }
  return textView(
    [
      joined === true ? "" : `${what} started: run ${idFor(taskId, space)}`,
      notice === undefined ? "" : `${notice} Run ${idFor(taskId, space)}`,
      ...sent,
      "It continues at Google; you can close this terminal.",
    ],
    following(taskId),
    space,
  );
}

const following = (taskId: string): Commands => [
  ["Follow it", `watch ${shortId(taskId)}`],
  ["Cancel it", `cancel ${shortId(taskId)}`],
];

interface ShownPlan {
  task_id: string;
  plan: string;
  notice?: string | undefined;
  message?: string | undefined;
  estimated_cost?: { likely_usd: number; max_usd: number } | undefined;
}

function planView({ task_id: taskId, plan, notice, message, estimated_cost: cost }: ShownPlan, space: AnswerSpace) {
  const { width } = space;
  const text = width === undefined ? plan : reportLines(numberedDocument(plan, []), { ...space, width }).join("\n");
  const lines = [notice ?? "", message ?? "", `${approvalLine(cost)} Run ${idFor(taskId, space)}`];
  return `${text}\n\n${textView(lines, planCommands(taskId), space)}`;
}

export async function statusView(status: Status, space: AnswerSpace): Promise<string> {
  const { task_id: taskId, elapsed_minutes, cost_so_far: cost = 0, stalled_since: stalled, error } = status;
  const { unpolled_since: unpolled, estimated_cost: expected } = status;
  const { label } = stateOf(status.status);
  const isRunning = ["pending", "running", "running_async"].includes(status.status);
  const percent = `${Math.round(status.progress)} %${status.progress_is_estimate === true ? " (estimate)" : ""}`;
  const isMeasured = status.progress > 0 && unpolled === undefined;
  const left = status.estimated_completion_minutes;
  const figures = [
    isRunning && isMeasured ? `${label}, ${percent}` : label,
    formatDuration(elapsed_minutes * MINUTE_MS),
    ...(isRunning && left !== undefined ? [timeLeftText(left)] : []),
    ...(cost > 0 ? [formatCost({ ...status, cost_usd: cost })] : []),
    ...(isRunning && expected !== undefined ? [totalText(expected)] : []),
    `run ${idFor(taskId, space)}`,
  ].join(" · ");
  const action = oneLine(status.current_action);
  return textView(
    [
      figures,
      isRunning ? `Now: ${action}` : "",
      !isRunning || status.last_thought === undefined ? "" : cutThought(status.last_thought, space),
      unpolled === undefined
        ? ""
        : `Last checked more than ${formatDuration(space.now - Date.parse(unpolled))} ago; it may have ended.`,
      stalled === undefined || unpolled !== undefined ? "" : `No activity since ${stalled}; it may be stuck.`,
      error === undefined ? "" : error.message,
      status.backup_file === undefined
        ? ""
        : `The report is in ${status.backup_file}, because the database refused it.`,
    ],
    nextFor(status),
    space,
  );
}

const MAX_THOUGHT_COLUMNS = 300;

const cutThought = (thought: string, { width }: AnswerSpace): string =>
  width === undefined ? oneLine(thought) : cutToWidth(oneLine(thought), MAX_THOUGHT_COLUMNS);

function nextFor({ task_id: taskId, status }: Pick<Status, "task_id" | "status">): Commands {
  const id = shortId(taskId);
  if (status === "completed") return [["Read it", `show ${id}`]];
  if (status === "awaiting_approval") return planCommands(taskId);
  if (status === "cancelled") return [["Read what was found", `show ${id}`]];
  if (status === "failed" || status === "start_unknown") return [["Retry it", `retry ${id}`]];
  return following(taskId);
}

export async function estimateView(estimate: Estimated, space: AnswerSpace): Promise<string> {
  const { estimated_cost: cost, estimated_duration: time, based_on_runs: runs, model } = estimate;
  const basis = runs === 0 ? "published figures" : `published figures and ${runs} of your own runs`;
  return textView(
    [
      `About ${formatDollars(cost.likely_usd)} (${formatDollars(cost.min_usd)} to ${formatDollars(cost.max_usd)})`,
      `About ${minutesText(time.likely_minutes)} (${Math.round(time.min_minutes)} to ${Math.round(time.max_minutes)})`,
      ADVICE[estimate.query_complexity],
      `Based on ${basis}, ${model}, prices of ${estimate.prices_as_of}.`,
      estimate.notice ?? "",
    ],
    [],
    space,
  );
}

const ADVICE: Record<Estimated["query_complexity"], string> = {
  simple:
    "This question is simple: search answers it in seconds for about a cent, deep-search checks the answer in minutes.",
  medium: "This question suits deep research; deep-search covers most of it for a few cents.",
  complex: "This question is complex: expect the upper part of the range. A narrower question costs less.",
};

export async function cancelledView(output: Cancelled, space: AnswerSpace): Promise<string> {
  const { task_id: taskId, message } = output;
  if (output.status === "deleted") return textView([message], [], space);
  const cost = (output.cost_usd ?? 0) === 0 ? "" : `Cost so far: ${formatCost(output)}`;
  const isReadable = output.partial_results_saved || output.status === "completed";
  return textView([message, cost], isReadable ? [["Read what was found", `show ${shortId(taskId)}`]] : [], space);
}

export async function resumedView(resumed: Resumed, space: AnswerSpace): Promise<string> {
  const { task_id: taskId, message, status, plan } = resumed;
  if (plan !== undefined) return planView({ ...resumed, plan }, space);
  const line = `${message} Run ${idFor(taskId, space)}`;
  return textView([line], nextFor({ task_id: taskId, status }), space);
}

export async function organizedView(
  { task_id: taskId, message, archived }: Organized,
  space: AnswerSpace,
): Promise<string> {
  const line = `${message} Run ${idFor(taskId, space)}`;
  return textView([line], archived ? [["List archived runs", "list --archived"]] : [], space);
}

export async function savedView(
  { file_path, file_size_kb, pictures = 0, partial }: Saved,
  space: AnswerSpace,
): Promise<string> {
  // A script gets the path alone.
  if (space.width === undefined) return file_path;
  const pictured = pictures === 0 ? "" : `, ${countOf(pictures, "picture")}`;
  return [
    `Saved to ${tilde(file_path, space.home ?? "")} (${file_size_kb} KB${pictured})`,
    ...(partial === true ? [space.paint("careful", "Partial report: the run ended before it was finished.")] : []),
  ].join("\n");
}

export async function exportedView(
  { message, file_path, file_size_kb }: Exported,
  space: AnswerSpace,
): Promise<string> {
  // A script gets the path alone.
  return space.width === undefined
    ? file_path
    : `Saved to ${tilde(file_path, space.home ?? "")} (${file_size_kb} KB)\n${message}`;
}

export async function importedView({ message, runs, unreadable }: Imported, space: AnswerSpace): Promise<string> {
  const lines = runs.map(({ task_id: id, query }) => `${idFor(id, space)}  ${oneLine(query)}`);
  const [first] = runs;
  const next: Commands =
    first === undefined ? [["List them", "list"]] : [["Read it", `show ${shortId(first.task_id)}`]];
  return textView([message, ...unreadable.map((name) => `Cannot be read: ${oneLine(name)}`), ...lines], next, space);
}
