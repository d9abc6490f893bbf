/** One operation from the terminal: input from arguments or stdin, progress on stderr, the answer on stdout. */

import { text as readAll } from "node:stream/consumers";
import { createApp } from "../app.ts";
import type { Environment } from "../config.ts";
import type { Call, Operation } from "../operations/operation.ts";
import { perform } from "../operations/perform.ts";
import { leaveOnSignals } from "../platform/shutdown.ts";
import { confirmInTerminal } from "./confirm.ts";
import { followRun } from "./follow-run.ts";
import { createProgressLine, print, printFailure } from "./output.ts";

export const EXIT_CODES = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

const INPUT_CODES = new Set(["INVALID_QUERY", "INVALID_TASK_ID", "INVALID_INPUT"]);

export interface CommandCall {
  input: Record<string, unknown>;
  json: boolean;
  /** Stay until the run that the operation is about has ended. */
  wait: boolean;
  /** The user agreed beforehand to what it costs. */
  yes: boolean;
  flags: Environment;
}

export async function runOperation(
  operation: Operation,
  { input, json, wait, yes, flags }: CommandCall,
): Promise<void> {
  const app = createApp({ flags, logFrom: "WARN" });
  const { shutdown, deps, log } = app;
  leaveOnSignals(shutdown, () => EXIT_CODES.interrupted);
  // `| head` closes our stdout early; that is not an error.
  process.stdout.on("error", () => void shutdown.leave(EXIT_CODES.ok));
  const line = createProgressLine();
  const call: Call = { owner: "local", client: "cli", from: "here", signal: shutdown.signal, progress: line.show };
  const read = await readStdinFor(operation, input);
  // A stdin that was read to its end for the question has no answer left to give.
  const canAsk = process.stdin.isTTY && process.stderr.isTTY && read === input;
  const word = yes ? { agreed: true } : await confirmInTerminal(deps, { operation, input: read, call, canAsk });
  const answered =
    "refusal" in word ? word.refusal : await shutdown.during(perform(operation, deps, read, { ...call, ...word }));
  const { task_id: taskId, status } = answered.structured;
  const goesOn = wait && !answered.failed && typeof taskId === "string" && status !== "completed";
  const outcome = goesOn ? await shutdown.during(followRun(app, taskId, call)) : answered;
  line.clear();
  if (outcome.failed) await printFailure(outcome.text);
  if (json) await print(JSON.stringify(outcome.structured, null, 2));
  else if (!outcome.failed) await print(outcome.text);
  log.debug(`${operation.name} ${outcome.failed ? "failed" : "done"}`);
  await shutdown.leave(outcome.failed ? failureCode(outcome.structured) : EXIT_CODES.ok);
}

async function readStdinFor(operation: Operation, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { positional } = operation;
  if (positional === undefined || input[positional] !== "-") return input;
  return { ...input, [positional]: await readAll(process.stdin) };
}

function failureCode(structured: Record<string, unknown>): number {
  const { error } = structured;
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  return INPUT_CODES.has(code) ? EXIT_CODES.usage : EXIT_CODES.failed;
}
