/** One operation from the terminal: input from arguments or stdin, progress on stderr, the answer on stdout. */

import { text as readAll } from "node:stream/consumers";
import { type App, createApp } from "../app.ts";
import { LOCAL_CALLER } from "../caller.ts";
import type { Environment } from "../config/config.ts";
import type { Call, Operation, OperationDeps } from "../operations/operation.ts";
import { type Outcome, perform, refused } from "../operations/perform.ts";
import { leaveOnSignals } from "../platform/shutdown.ts";
import { answerView } from "./render/answer-view.ts";
import { confirmInTerminal } from "./confirm.ts";
import { EXIT_CODES, failureCode } from "./exit-codes.ts";
import { followRun } from "./commands/follow-run.ts";
import { answerWidth, createLogLines, createProgressLine, print, printFailure } from "./output.ts";
import { paintFor } from "./render/paint.ts";
import { withWholeTaskId } from "./task-id.ts";

export interface CommandCall {
  input: Record<string, unknown>;
  json: boolean;
  /** Stay until the run that the operation is about has ended. */
  wait: boolean;
  /** The user agreed beforehand to what it costs. */
  yes: boolean;
  flags: Environment;
  /** Asked instead of the question about the cost. */
  confirm?: Confirmation | undefined;
}

/** Throws what is printed instead of an answer. `canAsk`: someone sees stderr and answers on stdin. */
export type Confirmation = (
  deps: OperationDeps,
  asked: { input: Record<string, unknown>; call: Call; canAsk: boolean },
) => Promise<void>;

export async function runOperation(
  operation: Operation,
  { input, json, wait, yes, flags, confirm }: CommandCall,
): Promise<void> {
  const lines = createLogLines();
  const app = createApp({ flags, logFrom: "WARN", logTo: lines.write });
  const { shutdown, deps, log } = app;
  leaveOnSignals(shutdown, () => EXIT_CODES.interrupted);
  // `| head` closes our stdout early; that is not an error.
  process.stdout.on("error", () => void shutdown.leave(EXIT_CODES.ok));
  // A terminal that was closed takes nothing any more.
  process.stderr.on("error", () => {});
  await app.telemetry;
  const line = createProgressLine();
  const call: Call = {
    ...LOCAL_CALLER,
    client: "cli",
    signal: shutdown.signal,
    progress: line.show,
    wholeReports: true,
    estimates: new Map(),
  };
  const answered = await answer(app, { operation, input, call, yes, confirm });
  const { task_id: taskId, status } = answered.structured;
  const goesOn = wait && !answered.failed && typeof taskId === "string" && status !== "completed";
  line.clear();
  const outcome = goesOn ? await shutdown.during(followRun(app, { taskId, call, log: lines })) : answered;
  line.clear();
  if (outcome.failed) await printFailure(outcome.text);
  if (json) await print(JSON.stringify(outcome.structured, null, 2));
  // Who left the view was told how to return to it.
  else if (!outcome.failed && !(goesOn && shutdown.leaving()))
    await print(await shown(operation, outcome, deps.clock.now()));
  log.debug(`${operation.name} ${outcome.failed ? "failed" : "done"}`);
  await shutdown.leave(outcome.failed ? failureCode(outcome.structured) : EXIT_CODES.ok);
}

interface Asked {
  operation: Operation;
  input: Record<string, unknown>;
  call: Call;
  yes: boolean;
  confirm: Confirmation | undefined;
}

async function answer({ deps, shutdown }: App, { operation, input, call, yes, confirm }: Asked): Promise<Outcome> {
  try {
    const read = await readStdinFor(operation, input);
    const whole = await withWholeTaskId(operation, deps, { input: read, owner: call.owner });
    // A stdin that was read to its end for the question has no answer left to give.
    const canAsk = process.stdin.isTTY && process.stderr.isTTY && read === input;
    if (!yes) await confirm?.(deps, { input: whole, call, canAsk });
    const word =
      yes || confirm !== undefined
        ? { agreed: true }
        : await confirmInTerminal(deps, { operation, input: whole, call, canAsk });
    if ("refusal" in word) return word.refusal;
    return await shutdown.during(perform(operation, deps, whole, { ...call, ...word }));
  } catch (error) {
    return refused(error, deps);
  }
}

const shown = (operation: Operation, outcome: Outcome, now: number): Promise<string> =>
  answerView(operation, outcome, { width: answerWidth(), paint: paintFor(process.stdout), now });

async function readStdinFor(operation: Operation, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { positional } = operation;
  if (positional === undefined || input[positional] !== "-") return input;
  return { ...input, [positional]: await readAll(process.stdin) };
}
