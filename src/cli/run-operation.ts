/** One operation from the terminal: input from arguments or stdin, progress on stderr, the answer on stdout. */

import { text as readAll } from "node:stream/consumers";
import type { z } from "zod";
import type { App } from "../app.ts";
import { LOCAL_CALLER } from "../caller.ts";
import type { Environment } from "../config/environment.ts";
import { checkResearchStatus } from "../operations/check-research-status.ts";
import type { Results } from "../operations/get-research-results.ts";
import type { Call, Operation, OperationDeps } from "../operations/operation.ts";
import { type Failure, type Outcome, perform, refused } from "../operations/perform.ts";
import { findRounds } from "../runs/result-store.ts";
import { answerSpace, openCommand } from "./answer-command.ts";
import { collectUsage, followRun } from "./commands/follow-run.ts";
import type { DraftView } from "./draft-view.ts";
import { askForDetails, type Confirmation, confirmCost } from "./confirm.ts";
import {
  createLogLines,
  createProgressLine,
  EXIT_CODES,
  type LogLines,
  movesCursor,
  print,
  printAnswer,
  printFailure as printMessage,
  type ProgressLine,
} from "./output.ts";
import { printFailedOutcome } from "./print-error.ts";
import { shortId, type TerminalView } from "./render/answer-view.ts";
import { withRun } from "./run-name.ts";

export interface CommandCall<Output> {
  input: Record<string, unknown>;
  json: boolean;
  /** Wait until the run of the operation has ended. */
  wait?: boolean;
  /** With --no-wait: return once the run is started, in a pipe and with --json, too. */
  isNotToWait?: boolean;
  /** Without a run, the newest that has not ended is meant, if there is one. */
  prefersUnfinished?: boolean;
  /** The user agreed to the cost beforehand. */
  yes?: boolean;
  flags?: Environment;
  /** Replaces the question about the cost. */
  confirm?: Confirmation | undefined;
  /** Renders the answer for people. */
  view: TerminalView<Output>;
  /** Renders the result of a run that was waited for, instead of the report. */
  endView?: TerminalView<Results> | undefined;
}

export async function runOperation<Output extends Record<string, unknown>>(
  operation: Operation<z.ZodObject, Output>,
  command: CommandCall<Output>,
): Promise<void> {
  const line = createProgressLine();
  const lines = createLogLines(process.stderr, line.above);
  const app = openCommand({ flags: command.flags ?? {}, logTo: lines.write });
  const { shutdown, deps, log } = app;
  // A closed terminal accepts no more output.
  process.stderr.on("error", () => {});
  const draft = operation.asksBackend === true ? await draftView(app, { command, line, lines }) : undefined;
  const call = callOf(app, command, { line, draft });
  const asked = await ask(app, { operation, call, command, line }).catch((error: unknown) => refused(error, deps));
  line.clear();
  if ("failed" in asked) return shutdown.leave(await printFailedOutcome(asked, command));
  // Includes the printing: a shutdown waits for it.
  const exitCode = await shutdown.during(
    execute(app, { operation, command, call: asked.call, input: asked.input, line, lines, draft }),
  );
  log.debug(`${operation.name} ${exitCode === EXIT_CODES.ok ? "done" : "failed"}`);
  await shutdown.leave(exitCode);
}

function callOf<Output>(
  { shutdown }: App,
  { json, wait = false, isNotToWait = false }: CommandCall<Output>,
  { line, draft }: { line: ProgressLine; draft: DraftView | undefined },
): Call {
  // A person sees the live view, or gets the prompt back, as soon as Google has accepted the research.
  const returnsOnceStarted = isNotToWait || (!json && (wait || process.stdout.isTTY));
  return {
    ...LOCAL_CALLER,
    client: "cli",
    signal: shutdown.signal,
    progress: (text, { taskId } = {}) => {
      draft?.end();
      line.show(taskId === undefined ? text : `${text} (${shortId(taskId)})`);
    },
    draft: draft?.show,
    wholeReports: true,
    hasTypedPaths: true,
    visualization: "auto",
    ...(returnsOnceStarted ? { returnWhen: AbortSignal.abort() } : {}),
  };
}

/** Undefined where it would not be seen. */
async function draftView(
  { config }: App,
  { command, line, lines }: { command: { json: boolean }; line: ProgressLine; lines: LogLines },
): Promise<DraftView | undefined> {
  const { stdout, stderr } = process;
  if (command.json || !stdout.isTTY || !movesCursor(stderr, config.environment)) return undefined;
  const { createDraftView } = await import("./draft-view.ts");
  return createDraftView(stderr, { log: lines, onOpen: line.clear });
}

interface Asked<Output extends Record<string, unknown>> {
  operation: Operation<z.ZodObject, Output>;
  call: Call;
  command: CommandCall<Output>;
}

/** Completes the input, polls the runs that the operation reads, and asks the user where that is needed. */
async function ask<Output extends Record<string, unknown>>(
  app: App,
  { operation, call, command, line }: Asked<Output> & { line: ProgressLine },
): Promise<{ input: Record<string, unknown>; call: Call }> {
  const { deps } = app;
  const { input, yes = false, prefersUnfinished = false, confirm } = command;
  const read = await readStdinFor(operation, input);
  const wanted = { input: read, owner: call.owner, prefersUnfinished };
  const { input: whole, remark } = await withRun(operation, deps, wanted);
  if (remark !== undefined) await printMessage(remark);
  if (isReading(operation, command)) await pollBeforeReading(app, { taskId: whole["task_id"], call, line });
  // The question was read from stdin to its end: no answer can follow.
  const canAsk = process.stdin.isTTY && process.stderr.isTTY && read === input;
  const asking = { operation, input: whole, call, canAsk };
  const precise = yes ? whole : await askForDetails(deps, asking);
  const agreed =
    yes || confirm === undefined
      ? await confirmCost(deps, { ...asking, input: precise, yes })
      : await confirm(deps, { input: precise, call, canAsk });
  return { input: precise, call: { ...call, agreed } };
}

/** A command that waits polls its run itself. */
const isReading = ({ name }: Pick<Operation, "name">, { wait = false }: { wait?: boolean }): boolean =>
  READING.has(name) || (name === checkResearchStatus.name && !wait);

/** Operations on what runs have brought, or may have brought by now. */
const READING: ReadonlySet<string> = new Set([
  "list_research",
  "get_research_results",
  "save_report",
  "verify_citations",
  "ask_followup",
]);

/** Polls overdue runs once, so that a report which is finished at Google is collected before it is read. */
async function pollBeforeReading(
  { deps, config, shutdown }: App,
  { taskId, call, line }: { taskId: unknown; call: Call; line: ProgressLine },
): Promise<void> {
  if (config.settings.RESEARCH_MAX_RPS === 0) return;
  try {
    const { pollOverdue } = await import("../runs/scheduling/overdue-store.ts");
    const runner = async () => (await deps.research()).runner;
    await pollOverdue(
      { db: await deps.database(), clock: deps.clock, runner, signal: shutdown.signal },
      {
        owner: call.owner,
        taskId: typeof taskId === "string" ? taskId : undefined,
        onPoll: () => (process.stderr.isTTY ? line.show("Asking Google about unfinished research") : undefined),
      },
    );
  } catch {
    // What is stored can be read all the same, or the operation reports why not.
    deps.log.debug("Unfinished research could not be polled.");
  } finally {
    line.clear();
  }
}

interface Execution<Output extends Record<string, unknown>> extends Asked<Output> {
  input: Record<string, unknown>;
  line: ProgressLine;
  lines: LogLines;
  draft: DraftView | undefined;
}

/** Performs the operation, follows its run where that is wanted, and prints the outcome. Returns the exit code. */
async function execute<Output extends Record<string, unknown>>(
  app: App,
  { operation, command, call, input, line, lines, draft }: Execution<Output>,
): Promise<number> {
  const { json, wait = false, view } = command;
  const answered = await perform(operation, app.deps, { input, call });
  draft?.end();
  line.clear();
  const taskId = wait ? runToFollow(operation, answered, json) : undefined;
  if (answered.failed) return printFailure(app, answered, { json, operation });
  if (taskId === undefined) {
    if (json) await print(JSON.stringify(answered.structured, null, 2));
    else await printText(await view(answered.structured, answerSpace(app)), app.config.environment);
    return EXIT_CODES.ok;
  }
  const followed = await followRun(app, { taskId, call, log: lines });
  line.clear();
  if (followed.outcome.failed) return printFailure(app, followed.outcome, { json, operation });
  if (json) await print(JSON.stringify(followed.outcome.structured, null, 2));
  // After Ctrl-C the live view has printed how to return to it.
  else if (followed.isOver) {
    const { structured: answer } = followed.outcome;
    const { asksForDecision, decidePlan } = await import("./decide-plan.ts");
    if (asksForDecision(answer)) return decidePlan(app, { answer, call, log: lines });
    const endView = command.endView ?? (await import("./render/answers/results-view.ts")).resultsView;
    await printAnswer(await endView(answer, answerSpace(app)), app.config.environment);
  }
  if (followed.isOver) await collectUsage(app, { taskId, call, line });
  return EXIT_CODES.ok;
}

/** Nothing is written for a list without rows: not even an empty line. */
const printText = async (text: string, environment: Environment): Promise<void> =>
  text === "" ? undefined : printAnswer(text, environment);

async function printFailure(
  { deps }: App,
  failed: Failure,
  { json, operation }: { json: boolean; operation: Pick<Operation, "name"> },
): Promise<number> {
  const { error, task_id: taskId } = failed.structured;
  const isStopped = error.code === "INTERRUPTED" && operation.name === "deep_search" && taskId !== undefined;
  const rounds = isStopped ? await finishedRounds(deps, taskId) : 0;
  return printFailedOutcome(failed, { json, finishedRounds: rounds });
}

const finishedRounds = async ({ database }: OperationDeps, taskId: string): Promise<number> =>
  database()
    .then((db) => findRounds(db, taskId))
    .then((rounds) => rounds.length)
    .catch(() => 0);

/** Watching a run that has ended shows its report; with `--json`, its status. */
function runToFollow(
  operation: Pick<Operation, "name">,
  { failed, structured }: Outcome,
  json: boolean,
): string | undefined {
  const { task_id: taskId, status }: { task_id?: unknown; status?: unknown } = structured;
  if (failed || typeof taskId !== "string") return undefined;
  const isWatched = operation.name === checkResearchStatus.name && !json;
  return isWatched || status !== "completed" ? taskId : undefined;
}

async function readStdinFor(operation: Operation, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { positional } = operation;
  if (positional === undefined || input[positional] !== "-") return input;
  return { ...input, [positional]: await readAll(process.stdin) };
}
