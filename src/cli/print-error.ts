/** Prints the error that ended a command: text on stderr, with --json also the structured form on stdout. */

import type { Advice } from "../action.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import { type Failure, type FailureAnswer, failureOf, fillIn } from "../operations/perform.ts";
import { typedName } from "./flags.ts";
import { failureCode, print, printFailure, widthOfMessages } from "./output.ts";
import { commandFor, nextCommands, shell } from "./render/answer-view.ts";
import { type Paint, paintFor, unpainted } from "./render/paint.ts";

interface Printing extends Pick<FailureSpace, "finishedRounds"> {
  json: boolean;
}

/** Returns the exit code. */
export async function printFailedOutcome(failure: Failure, { json, ...more }: Printing): Promise<number> {
  const { structured } = failure;
  const { stderr } = process;
  await printFailure(failureView(failure, { width: widthOfMessages(), paint: paintFor(stderr), ...more }));
  if (json) await print(JSON.stringify(structured, null, 2));
  return failureCode(structured);
}

/** For commands that are no operation. Rethrows a bug; returns the exit code. */
export function printError(error: unknown, json: boolean): Promise<number> {
  if (!(error instanceof AppError)) throw error;
  return printFailedOutcome(failureOf(error), { json });
}

interface FailureSpace {
  /** Undefined: not a terminal. Scripts and logs get the code of the error, people do not. */
  width: number | undefined;
  paint?: Paint;
  /** Finished rounds of a verification that was stopped. */
  finishedRounds?: number;
}

type Failed = Pick<Failure, "structured" | "advice" | "template">;

export function failureView(
  { structured, advice, template }: Failed,
  { width, paint = unpainted, finishedRounds = 0 }: FailureSpace,
): string {
  const { code, details = {} } = structured.error;
  const message =
    stopped(code, finishedRounds) ??
    stillRunning(structured) ??
    (template === undefined ? structured.error.message : fillIn(template, typedName));
  const head =
    width === undefined
      ? `${code}: ${message}`
      : paint(code === "INTERRUPTED" || code === "DECLINED" ? "careful" : "bad", message);
  const { suggestion = "", next = [] } = code === "INTERRUPTED" ? afterStop(finishedRounds) : advice;
  const commands = next.map((action) => commandFor(action, structured.task_id));
  return [asCalled(head), asCalled(suggestion), nextCommands(commands, { paint, width }), ...detailLines(details)]
    .filter((line) => line !== "")
    .join("\n");
}

/** Commands in the texts of operations, by the name that the user has typed. */
const asCalled = (text: string): string => text.replaceAll(/\bgemini-search-mcp (?=[a-z])/g, shell(""));

/** Of a command that was interrupted: the user knows why. */
function stopped(code: ErrorCode, rounds: number): string | undefined {
  if (code !== "INTERRUPTED") return undefined;
  if (rounds === 0) return "Stopped. No answer was saved.";
  return `Stopped after ${rounds === 1 ? "round 1" : `${rounds} rounds`}.`;
}

const afterStop = (rounds: number): Advice => (rounds === 0 ? {} : { next: [{ do: "continue" }, { do: "read" }] });

function stillRunning({ error: { code }, status = "", progress = 0 }: FailureAnswer): string | undefined {
  if (code !== "RESEARCH_NOT_COMPLETED" || !IN_PROGRESS.has(status)) return undefined;
  return `Still running${progress === 0 ? "" : ` (${Math.round(progress)} %)`}.`;
}

const IN_PROGRESS = new Set(["pending", "running", "running_async"]);

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
