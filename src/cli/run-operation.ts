/** One operation from the terminal: input from arguments or stdin, progress on stderr, the answer on stdout. */

import { text as readAll } from "node:stream/consumers";
import type { z } from "zod";
import type { App } from "../app.ts";
import { LOCAL_CALLER } from "../caller.ts";
import type { Environment } from "../config/config.ts";
import type { Call, Operation, OperationDeps } from "../operations/operation.ts";
import { type Outcome, perform, refused } from "../operations/perform.ts";
import { openCommand } from "./answer-command.ts";
import { answerView, type TerminalView } from "./render/answer-view.ts";
import { confirmCost } from "./confirm.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { followRun } from "./commands/follow-run.ts";
import { answerWidth, createLogLines, createProgressLine, print } from "./output.ts";
import { printFailedOutcome } from "./print-error.ts";
import { paintFor } from "./render/paint.ts";
import { withWholeTaskId } from "./task-id.ts";

export interface CommandCall<Output> {
  input: Record<string, unknown>;
  json: boolean;
  /** Wait until the run of the operation has ended. */
  wait: boolean;
  /** The user agreed to the cost beforehand. */
  yes: boolean;
  flags: Environment;
  /** Replaces the question about the cost. */
  confirm?: Confirmation | undefined;
  /** Replaces the text of the answer on a terminal. */
  view?: TerminalView<Output> | undefined;
}

/** Throws the error that is printed instead of an answer. `canAsk`: stdin and stderr are terminals. */
export type Confirmation = (
  deps: OperationDeps,
  asked: { input: Record<string, unknown>; call: Call; canAsk: boolean },
) => Promise<void>;

export async function runOperation<Output extends Record<string, unknown>>(
  operation: Operation<z.ZodObject, Output>,
  { json, wait, flags, view, ...command }: CommandCall<Output>,
): Promise<void> {
  const lines = createLogLines();
  const app = openCommand({ flags, logTo: lines.write });
  const { shutdown, deps, log } = app;
  // A closed terminal accepts no more output.
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
  const answered = await answer(app, { operation, call, ...command });
  line.clear();
  const unfinished = wait ? unfinishedRun(answered) : undefined;
  const following = unfinished === undefined ? undefined : followRun(app, { taskId: unfinished, call, log: lines });
  const followed = following && (await shutdown.during(following));
  line.clear();
  const outcome = followed ?? answered;
  log.debug(`${operation.name} ${outcome.failed ? "failed" : "done"}`);
  if (outcome.failed) return shutdown.leave(await printFailedOutcome(outcome, json));
  if (json) await print(JSON.stringify(outcome.structured, null, 2));
  // After Ctrl-C the live view has printed how to return to it.
  else if (followed === undefined || !shutdown.leaving()) {
    const space = { width: answerWidth(), paint: paintFor(process.stdout), now: deps.clock.now() };
    await print(await (followed === undefined ? answerView(answered, space, view) : answerView(followed, space)));
  }
  await shutdown.leave(EXIT_CODES.ok);
}

function unfinishedRun({ failed, structured }: Outcome): string | undefined {
  const { task_id: taskId, status }: { task_id?: unknown; status?: unknown } = structured;
  return !failed && typeof taskId === "string" && status !== "completed" ? taskId : undefined;
}

interface Asked<Output extends Record<string, unknown>> {
  operation: Operation<z.ZodObject, Output>;
  input: Record<string, unknown>;
  call: Call;
  yes: boolean;
  confirm?: Confirmation | undefined;
}

async function answer<Output extends Record<string, unknown>>(
  { deps, shutdown }: App,
  { operation, input, call, yes, confirm }: Asked<Output>,
): Promise<Outcome<Output>> {
  try {
    const read = await readStdinFor(operation, input);
    const whole = await withWholeTaskId(operation, deps, { input: read, owner: call.owner });
    // The question was read from stdin to its end: no answer can follow.
    const canAsk = process.stdin.isTTY && process.stderr.isTTY && read === input;
    if (!yes) await confirm?.(deps, { input: whole, call, canAsk });
    const agreed = yes || confirm !== undefined || (await confirmCost(deps, { operation, input: whole, call, canAsk }));
    return await shutdown.during(perform(operation, deps, { input: whole, call: { ...call, agreed } }));
  } catch (error) {
    return refused(error, deps);
  }
}

async function readStdinFor(operation: Operation, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { positional } = operation;
  if (positional === undefined || input[positional] !== "-") return input;
  return { ...input, [positional]: await readAll(process.stdin) };
}
