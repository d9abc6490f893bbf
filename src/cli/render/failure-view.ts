/** Renders an error for people: what happened, and the command that helps. */

import type { ErrorCode } from "../../errors.ts";
import type { FailureAnswer } from "../../operations/perform.ts";
import { aboutField, forPeople } from "../wording.ts";
import { shell, shortId } from "./answer-view.ts";
import { type Paint, unpainted } from "./paint.ts";

export interface FailureSpace {
  /** Scripts and logs get the code of the error, people do not. */
  isTerminal: boolean;
  paint?: Paint;
  /** Finished rounds of a verification that was stopped. */
  finishedRounds?: number;
}

export function failureView({ error, ...run }: FailureAnswer, space: FailureSpace): string {
  const { isTerminal, paint = unpainted } = space;
  const { code, details = {} } = error;
  const advice = adviceFor({ error, ...run }, space);
  const message = advice.message ?? forPeople(aboutField(error.message, details["field"]));
  const head = isTerminal
    ? paint(code === "INTERRUPTED" || code === "DECLINED" ? "careful" : "bad", message)
    : `${code}: ${message}`;
  return [head, ...advice.lines, ...detailLines(details)].filter((line) => line !== "").join("\n");
}

interface Advice {
  /** Replaces the message. */
  message?: string;
  lines: string[];
}

type Failed = FailureAnswer & { error: { code: ErrorCode } };

function adviceFor(
  { error, task_id: taskId, status, progress = 0 }: Failed,
  { finishedRounds = 0 }: FailureSpace,
): Advice {
  const id = taskId === undefined ? "<run>" : shortId(taskId);
  const { code, suggestion } = error;
  if (code === "INTERRUPTED" && finishedRounds > 0) {
    const rounds = finishedRounds === 1 ? "round 1" : `${finishedRounds} rounds`;
    return {
      message: `Stopped after ${rounds}.`,
      lines: [`Continue with: ${shell(`resume ${id}`)}`, `Read what was found: ${shell(`show ${id}`)}`],
    };
  }
  if (code === "INTERRUPTED") return { message: "Stopped. No answer was saved.", lines: [] };
  if (code === "START_UNKNOWN" || status === "start_unknown") return { lines: AFTER_UNKNOWN_START(id) };
  if (code === "TASK_NOT_FOUND") {
    return { message: aboutMissing(error.message), lines: [`To see your runs: ${shell("list")}`] };
  }
  if (
    code === "RESEARCH_NOT_COMPLETED" &&
    (status === "running_async" || status === "running" || status === "pending")
  ) {
    const percent = progress === 0 ? "" : ` (${Math.round(progress)} %)`;
    return { message: `Still running${percent}.`, lines: [`Follow it: ${shell(`watch ${id}`)}`] };
  }
  if (code === "RESEARCH_NOT_COMPLETED" && status === "awaiting_approval") {
    return { lines: [`Read the plan: ${shell(`plan ${id}`)}`, `Start it: ${shell(`approve ${id}`)}`] };
  }
  if (code === "RESEARCH_ALREADY_COMPLETED") return { lines: [`Read it: ${shell(`show ${id}`)}`] };
  return { lines: suggestion === undefined ? [] : [forPeople(suggestion)] };
}

/** A message that names the beginning of an id is already about what was typed. */
const aboutMissing = (message: string): string =>
  message.includes("task_id.") ? "There is no run with this id." : forPeople(message);

const AFTER_UNKNOWN_START = (id: string): string[] => [
  "It is not repeated automatically, because it may be running and charged. What you can do:",
  `  If AI Studio shows it, follow that run (free):  ${shell(`resume ${id} --interaction-id <id>`)}`,
  `  Start it again (may be charged twice):          ${shell(`resume ${id} --accept-possible-double-charge`)}`,
  `  Abandon it:                                     ${shell(`stop ${id}`)}`,
];

/** Facts for programs, or already part of the message. */
const HIDDEN = new Set([
  "status",
  "field",
  "caution",
  "reason",
  "estimated_cost_usd",
  "limit_usd",
  "backup_file",
  "retries",
  "corrections",
  "exit_code",
  "signal",
  "retry_after",
]);

const LABELS: Readonly<Record<string, string>> = {
  best_text: "Received so far",
  partial_text: "Received so far",
  matches: "Runs",
  sections: "Sections",
  path: "Path",
  needed_bytes: "Bytes needed",
  available_bytes: "Bytes available",
  current_action: "Now",
};

const detailLines = (details: Record<string, unknown>): string[] =>
  Object.entries(details)
    .filter(([name, value]) => value !== undefined && !HIDDEN.has(name))
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const label = LABELS[name] ?? name.replaceAll("_", " ");
      return text.includes("\n") ? `${label}:\n${text}` : `${label}: ${text}`;
    });
