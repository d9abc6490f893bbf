/** Makes a search that happens in this process a run in the store: found again whatever becomes of its caller. */

import { addCosts, type Cost, type CostOf, NO_COST, roundCost } from "../../costs/actual.ts";
import { AppError, UnexpectedRunError } from "../../errors.ts";
import type { Answer } from "../../gemini/search-backend.ts";
import { countCost } from "../../gemini/call-telemetry.ts";
import { cleanText } from "../../platform/clean-text.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { inRun } from "../../telemetry/telemetry.ts";
import { isCancelRequested, keepsPartial } from "../cancel/cancel-store.ts";
import { resultOfRounds } from "../history/read.ts";
import { appendEvents } from "../event-store.ts";
import type { RunKind, RunResult, SavedRound } from "../run.ts";
import { dropResult, findRounds, saveRound } from "../result-store.ts";
import { type Finish, finishRun, insertRunning, recordBeat } from "../run-store.ts";

export interface RunRecorder {
  db: Database;
  processId: string;
  clock: Clock;
  log: Log;
  /** True once this process is on its way out: what it leaves unfinished was interrupted, not cancelled. */
  leaving: () => boolean;
  costOf: CostOf;
}

export interface RunStart {
  kind: RunKind;
  query: string;
  options: Record<string, unknown>;
  owner: string;
  client: string | undefined;
  /** Chosen beforehand where the caller has to name the run before it begins. */
  taskId?: string | undefined;
  /** It is in the store already, under this process. */
  stored?: boolean | undefined;
}

export interface TrackedRun {
  taskId: string;
  log: Log;
  startedAt: number;
  /** Aborted when somebody, in whatever process, cancels the run. */
  cancelled: AbortSignal;
  /** Tells whoever waits, and the store, what is happening. */
  activity(text: string): void;
  /** 0 to 99. */
  setProgress(progress: number): void;
  answered(answer: Answer): void;
  saveRound(round: SavedRound): Promise<void>;
  figures(): Figures;
}

interface Figures {
  backend: string | undefined;
  /** Sentences for the user that backends gave, without repeats. */
  notices: string[];
  tokens: { input: number; output: number };
  cost: Cost;
}

export interface Finished<Output> {
  output: Output;
  result: RunResult;
  model: string;
}

/** How stale the stored state of a working run may be. */
const BEAT_MS = 15_000;
/** Whoever cancels waits up to five seconds for the process that works on the run. */
const CANCEL_WATCH_MS = 500;

/**
 * Far more than a model writes, but a child that floods its output can say 32 MB before it is stopped.
 * A client gives up the connection over a message of more than 10 MB, and an answer holds the text twice.
 */
const MOST_KEPT_CHARACTERS = 1_000_000;

interface RunCaller {
  progress: (message: string) => void;
  /** Called with the id once the run is stored, and never when it could not be. */
  onStored?: ((taskId: string) => void) | undefined;
}

export async function trackRun<Output>(
  recorder: RunRecorder,
  start: RunStart,
  { work, ...caller }: RunCaller & { work: (run: TrackedRun) => Promise<Finished<Output>> },
): Promise<Output> {
  const run = createTrackedRun(recorder, start, caller);
  await run.begin();
  try {
    const finished = await inRun(run.taskId, () => work(run));
    await run.finish({ to: "completed", result: finished.result, error: undefined, model: finished.model });
    return finished.output;
  } catch (error) {
    throw await run.fail(error);
  } finally {
    run.stop();
  }
}

const STARTING: Record<RunStart["kind"], string> = {
  search: "Searching the web",
  deep_search: "Searching the web from five perspectives",
  deep_research: "Researching the web",
  agent: "Starting deep research",
};

function createTrackedRun(recorder: RunRecorder, start: RunStart, { progress: notify, onStored }: RunCaller) {
  const { db, processId, clock } = recorder;
  // The global one: importing node:crypto here would cost every start 4 ms.
  const taskId = start.taskId ?? crypto.randomUUID();
  const log = recorder.log.forRun(taskId);
  const startedAt = clock.now();
  const meter = createMeter(recorder);
  let action = "Starting";
  let progress = 0;
  let begun = false;

  // A store that refuses must not cost the user an answer that was paid for.
  const stored = async (what: string, write: () => Promise<unknown>): Promise<boolean> => {
    try {
      await write();
      return true;
    } catch (error) {
      log.warn(`${what} could not be stored: ${error instanceof AppError ? error.message : "the database refused."}`);
      return false;
    }
  };
  const beat = (): void => {
    const { tokens, cost } = meter.figures();
    void stored("Progress", () =>
      recordBeat(db, { taskId, processId, progress, currentAction: action, tokens, cost, now: clock.now() }),
    );
  };
  const beats = setInterval(beat, BEAT_MS);
  const cancelling = new AbortController();
  const cancelWatch = setInterval(() => {
    isCancelRequested(db, taskId).then(
      (requested) => requested && cancelling.abort(),
      () => undefined,
    );
  }, CANCEL_WATCH_MS);
  const finish = async (end: Pick<Finish, "to" | "result" | "error" | "model">): Promise<void> => {
    const { backend, tokens, cost } = meter.figures();
    await stored("The result", () =>
      finishRun(db, { ...end, taskId, processId, backend, tokens, cost, usageFinal: true, now: clock.now() }),
    );
  };
  return {
    taskId,
    log,
    startedAt,
    cancelled: cancelling.signal,
    begin: async () => {
      begun =
        start.stored === true ||
        (await stored("The run", () => insertRunning(db, { ...start, taskId, processId, now: startedAt })));
      if (begun) onStored?.(taskId);
      notify(`${STARTING[start.kind]} (task_id ${taskId})`);
    },
    activity: (text: string) => {
      // It may quote a query that the model chose, and goes to terminals.
      action = cleanText(text);
      notify(action);
      beat();
    },
    setProgress: (value: number) => {
      progress = value;
    },
    answered: meter.answered,
    figures: meter.figures,
    saveRound: async (round: SavedRound) => {
      await stored("The round", () => saveRound(db, taskId, round, clock.now()));
    },
    finish,
    fail: async (error: unknown): Promise<unknown> => {
      if (!(error instanceof AppError)) {
        await finish({
          to: "failed",
          result: undefined,
          error: { code: "UNEXPECTED_ERROR", message: "An unexpected error ended the run." },
          model: meter.model(),
        });
        return new UnexpectedRunError(taskId, error);
      }
      const ended = recorder.leaving() && error.code === "CANCELLED" ? interrupted() : error;
      const result = await partialResult(db, taskId, error).catch(() => undefined);
      const to = ended.code === "CANCELLED" ? "cancelled" : "failed";
      const { suggestion: text } = ended;
      if (begun && text !== undefined) {
        await stored("The advice", () => appendEvents(db, taskId, [{ kind: "advice", text, at: clock.now() }]));
      }
      const wanted = to !== "cancelled" || (await keepsPartial(db, taskId).catch(() => true));
      await finish({
        to,
        result: wanted ? result : undefined,
        error: { code: ended.code, message: ended.message },
        model: meter.model(),
      });
      if (!wanted) await stored("The wish to keep nothing", () => dropResult(db, taskId));
      return withRun(ended, taskId, to);
    },
    stop: () => {
      clearInterval(beats);
      clearInterval(cancelWatch);
    },
  };
}

/** What was obtained before the end was paid for: the last finished round, else the best text that came. */
async function partialResult(db: Database, taskId: string, error: AppError): Promise<RunResult | undefined> {
  const rounds = resultOfRounds(await findRounds(db, taskId));
  if (rounds !== undefined) return rounds;
  const text = error.details?.["best_text"] ?? error.details?.["partial_text"];
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return { report: text.slice(0, MOST_KEPT_CHARACTERS), sources: [], metadata: {}, partial: true };
}

function interrupted(): AppError {
  return new AppError({
    code: "INTERRUPTED",
    message: "The process was stopped before the search was done.",
    suggestion: "Finished rounds can be read with get_research_results.",
  });
}

function bounded(details: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === "string" ? value.slice(0, MOST_KEPT_CHARACTERS) : value,
  ]);
  return Object.fromEntries(entries);
}

function withRun(error: AppError, taskId: string, status: string): AppError {
  const { code, message, suggestion, details, reason, retryable, cause } = error;
  return new AppError({
    code,
    message,
    suggestion,
    details: details && bounded(details),
    reason,
    retryable,
    cause,
    run: { task_id: taskId, status },
  });
}

function createMeter({ clock, costOf }: Pick<RunRecorder, "clock" | "costOf">) {
  const tokens = { input: 0, output: 0 };
  let cost = NO_COST;
  const notices = new Set<string>();
  let backend: string | undefined;
  let model: string | undefined;
  return {
    answered: (answer: Answer) => {
      tokens.input += answer.usage.input;
      tokens.output += answer.usage.output;
      model = answer.model ?? model;
      backend = answer.backend;
      for (const notice of answer.notices) notices.add(notice);
      const added = costOf(answer.usage, answer.model, clock.now());
      countCost(answer.model, added.usd);
      cost = addCosts(cost, added);
    },
    model: () => model,
    figures: (): Figures => ({
      backend,
      notices: [...notices],
      tokens: { ...tokens },
      cost: roundCost(cost),
    }),
  };
}
