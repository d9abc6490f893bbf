/** Stores a search of this process as a run, so that its answer can be read even if the caller disconnects. */

import type { Action } from "../../action.ts";
import { addCosts, type Cost, type CostOf, NO_COST, roundCost } from "../../costs/actual.ts";
import { AppError, UnexpectedRunError } from "../../errors.ts";
import { DEFAULT_API_MODEL } from "../../costs/prices.ts";
import { maxUsageOf } from "../../costs/search-bound.ts";
import { wasNotCharged } from "../../gemini/failures.ts";
import { type Budgets, hasHardLimit } from "../../costs/budget.ts";
import type { Answer } from "../../gemini/search-backend.ts";
import { cleanText } from "../../platform/clean-text.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { databaseNow } from "../../store/dialect.ts";
import { isCancelRequested, keepsPartial } from "../cancel/cancel-store.ts";
import { resultOfRounds, type StoredRun } from "../history/read.ts";
import { appendEvents } from "../event-store.ts";
import { countedMicros, type LedgerEntry, type LedgerKind, MICROS, saveEntries } from "../ledger/ledger-store.ts";
import { nextAfterPartial, type Run, type RunKind, type RunResult, type SavedRound } from "../run.ts";
import { dropResult, findRounds, saveRound } from "../result-store.ts";
import { type Finish, finishRun, insertRunning, recordBeat } from "../run-store.ts";

export interface RunRecorder {
  db: Database;
  processId: string;
  clock: Clock;
  log: Log;
  /** Aborted when the process shuts down: a run that it leaves unfinished is interrupted, not cancelled. */
  leaving: AbortSignal;
  costOf: CostOf;
  /** Of the API key, for the ledger. */
  keyFingerprint: string | undefined;
  budgets: Budgets;
  /** Registers work that a shutdown waits for. */
  during: <T>(work: Promise<T>) => Promise<T>;
  /** Writes a report that the database refused to a file; resolves with its path. */
  backUp: (run: Pick<Run, "taskId" | "query">, report: string) => Promise<string | undefined>;
}

export interface RunStart extends Pick<Run, "client" | "kind" | "options" | "owner" | "query"> {
  /** Given where the caller needs the id before the run begins. */
  taskId?: string | undefined;
  /** The run is stored already, with this process as its holder. */
  stored?: boolean | undefined;
  /** What the search that it continues counts, for the limit of a run. */
  earlierUsd?: number | undefined;
}

export interface TrackedRun {
  taskId: string;
  log: Log;
  startedAt: number;
  /** Aborted when the run is cancelled, in any process. */
  cancelled: AbortSignal;
  /** Reports the current action to the caller and to the store. */
  activity(text: string): void;
  /** Like `activity`, and adds it to the timeline. */
  phase(text: string): void;
  /** 0 to 99. */
  setProgress(progress: number): void;
  /**
   * Stores what a model call may cost before it is sent, and throws if a hard limit has no room for it; what it resolves
   * with receives the outcome.
   */
  asks(call: ModelCall): Promise<(outcome: Answer | AppError) => void>;
  saveRound(round: SavedRound): Promise<void>;
  figures(): Figures;
}

/** A model call that costs money. */
interface ModelCall {
  purpose: "research" | "correction";
  prompt: string;
  model: string | undefined;
}

export interface Finished {
  result: RunResult;
  model: string;
}

/** A search that ended with a report, as it was stored or as it could not be stored. */
export interface FinishedRun extends StoredRun {
  result: RunResult;
}

/** How often the state of a running search is stored. */
const BEAT_MS = 15_000;
/** A cancel waits up to five seconds for the process that runs the search. */
const CANCEL_WATCH_MS = 500;

/**
 * Far more than a model writes, but a child may print 32 MB before it is stopped. Clients close the connection on a
 * message above 10 MB, and an answer contains the text twice.
 */
const MAX_KEPT_CHARACTERS = 1_000_000;

interface RunCaller {
  progress: (message: string, about?: { taskId?: string; percent?: number }) => void;
  /** Called with the id once the run is stored; not called if it could not be stored. */
  onStored?: ((taskId: string) => void) | undefined;
}

/** The caller's answer is made from the returned value, so that a refused write never costs an answer that was paid for. */
export async function trackRun(
  recorder: RunRecorder,
  start: RunStart,
  { work, ...caller }: RunCaller & { work: (run: TrackedRun) => Promise<Finished> },
): Promise<FinishedRun> {
  const run = createTrackedRun(recorder, start, caller);
  await run.begin();
  try {
    const { result, model } = await work(run);
    const end = await run.finish({ to: "completed", result, model });
    return {
      run: completedRun(start, { end, startedAt: run.startedAt, hasWarning: result.hasWarning === true }),
      result,
    };
  } catch (error) {
    throw await run.fail(error);
  } finally {
    run.stop();
  }
}

interface Completion {
  end: Finish;
  startedAt: number;
  hasWarning: boolean;
}

/** The run as its row has it after `finishRun`. */
const completedRun = (start: RunStart, { end, startedAt, hasWarning }: Completion): Run => ({
  taskId: end.taskId,
  owner: start.owner,
  kind: start.kind,
  part: "question",
  query: start.query,
  tags: [],
  starred: false,
  archived: false,
  status: end.to,
  progress: 100,
  hasWarning,
  mode: "sync",
  backend: end.backend,
  model: end.model,
  client: start.client,
  createdAt: startedAt,
  updatedAt: end.now,
  startedAt,
  completedAt: end.now,
  enableNotifications: false,
  estimate: {},
  options: start.options,
  tokens: end.tokens,
  cost: end.cost,
  usageFinal: end.usageFinal,
});

const STARTING: Record<RunStart["kind"], string> = {
  search: "Searching the web",
  deep_search: "Searching the web from five perspectives",
  deep_research: "Researching the web",
  agent: "Starting deep research",
};

function createTrackedRun(recorder: RunRecorder, start: RunStart, { progress: notify, onStored }: RunCaller) {
  const { db, processId, clock, budgets } = recorder;
  // The global `crypto`: importing node:crypto would add 4 ms to every process start.
  const taskId = start.taskId ?? crypto.randomUUID();
  const startedAt = clock.now();
  const meter = createMeter(recorder, { ...start, taskId });
  const writer = createWriter(recorder, { taskId, query: start.query, meter });
  let currentAction = "Starting";
  let progress = 0;
  let isStored = false;

  const beat = (): void => {
    const { tokens } = meter.figures();
    const entries = meter.changedEntries();
    const state = { taskId, processId, progress, currentAction, tokens, entries, now: clock.now() };
    void writer.store("Progress", () => recordBeat(db, state));
  };
  const setAction = (text: string): void => {
    // May contain a query chosen by the model, and is printed on terminals.
    currentAction = cleanText(text);
    notify(currentAction, { percent: progress });
  };
  const beats = setInterval(beat, BEAT_MS);
  const cancelWatch = watchCancel(db, taskId);
  return {
    taskId,
    log: writer.log,
    startedAt,
    cancelled: cancelWatch.signal,
    begin: async () => {
      const run = { ...start, taskId, processId, now: startedAt };
      isStored = start.stored === true || (await writer.store("The run", () => insertRunning(db, run)));
      writer.keepsEnd = isStored;
      if (isStored) onStored?.(taskId);
      notify(STARTING[start.kind], { taskId });
    },
    activity: (text: string) => {
      setAction(text);
      beat();
    },
    phase: (text: string) => {
      setAction(text);
      const event = { kind: "phase", text: currentAction, at: clock.now() };
      // The heartbeat is written after the event: readers are notified of the run's row, not of its events.
      const stored = isStored ? writer.store("The phase", () => appendEvents(db, taskId, [event])) : undefined;
      void Promise.resolve(stored).then(beat);
    },
    setProgress: (value: number) => {
      progress = value;
    },
    asks: async (call: ModelCall) => {
      const usedUsd = meter.countedUsd();
      const { earlierUsd } = start;
      const { entry, settle } = meter.begin(call);
      const reserve = async (into: Database): Promise<void> => {
        // Its day is that of the budgets; its prices are those of this machine's day.
        entry.at = await databaseNow(into, entry.at);
        await saveEntries(into, [entry]);
      };
      if (!hasHardLimit(budgets)) {
        // A database that refuses it does not keep the user from searching.
        await writer.store("The cost of a call", () => reserve(db));
        return settle;
      }
      const { refusalOf } = await import("../ledger/budget-store.ts");
      try {
        await db.transaction().execute(async (transaction) => {
          const { owner, maxUsd, at: now } = entry;
          const request = { owner, now, what: "request", maxUsd, usedUsd, earlierUsd, undone: "It was not sent." };
          const refusal = await refusalOf(transaction, budgets, request);
          if (refusal !== undefined) throw refusal;
          await reserve(transaction);
        });
      } catch (error) {
        // A limit that cannot be checked counts as reached.
        entry.outcome = "uncharged";
        throw error;
      }
      return settle;
    },
    figures: meter.figures,
    saveRound: async (round: SavedRound) => {
      await writer.store("The round", () => saveRound(db, taskId, { ...round, now: clock.now() }));
    },
    finish: writer.finish,
    fail: (error: unknown): Promise<unknown> => fail(recorder, writer, { ...start, taskId, error }),
    stop: () => {
      clearInterval(beats);
      cancelWatch.stop();
    },
  };
}

/** Aborts its signal when any process has requested the cancel. */
function watchCancel(db: Database, taskId: string): { signal: AbortSignal; stop: () => void } {
  const cancelling = new AbortController();
  const timer = setInterval(() => {
    isCancelRequested(db, taskId).then(
      (isRequested) => isRequested && cancelling.abort(),
      () => undefined,
    );
  }, CANCEL_WATCH_MS);
  return { signal: cancelling.signal, stop: () => clearInterval(timer) };
}

type Writer = ReturnType<typeof createWriter>;

/** Logs a rejected write instead of throwing, so that the user still gets the answer that was paid for. */
function createWriter(
  recorder: RunRecorder,
  { taskId, query, meter }: Pick<Run, "taskId" | "query"> & { meter: Meter },
) {
  const { db, processId, clock } = recorder;
  const log = recorder.log.forRun(taskId);
  const store = async (what: string, write: () => Promise<unknown>): Promise<boolean> => {
    try {
      await write();
      return true;
    } catch (error) {
      log.warn(
        `${what} could not be stored: ${error instanceof AppError ? error.message : "the database rejected it."}`,
      );
      return false;
    }
  };
  const writer = {
    log,
    store,
    /** The run is stored, and must not stay unfinished because one write was refused. */
    keepsEnd: false,
    /** Returns what was stored, or could not be. */
    finish: async (end: Pick<Finish, "to" | "result" | "error"> & { model?: string }): Promise<Finish> => {
      const { backend, tokens, cost } = meter.figures();
      const entries = meter.entries;
      const model = end.model ?? meter.model();
      const finish = {
        ...end,
        model,
        taskId,
        processId,
        backend,
        tokens,
        cost,
        entries,
        usageFinal: true,
        now: clock.now(),
      };
      const isStored = await store("The result", () => finishRun(db, finish));
      if (!isStored && writer.keepsEnd) void recorder.during(storeLater(recorder, { query, finish, log }));
      return finish;
    },
  };
  return writer;
}

const STORE_AGAIN_MS = 5_000;

/**
 * Tries again until the database takes the end of the run, because nobody may be waiting for the answer. If the process
 * ends before that, a report goes to a file.
 */
async function storeLater(
  { db, clock, leaving, backUp }: RunRecorder,
  { query, finish, log }: { query: string; finish: Finish; log: Log },
): Promise<void> {
  const store = (): Promise<boolean> =>
    finishRun(db, finish).then(
      () => true,
      () => false,
    );
  while (!leaving.aborted) {
    await clock.sleep(STORE_AGAIN_MS, leaving).catch(() => undefined);
    if (await store()) return;
  }
  const { taskId, result } = finish;
  if (result === undefined) return;
  const path = await backUp({ taskId, query }, result.report);
  log.error(
    path === undefined
      ? `Run ${taskId} has ended, but neither the database nor a file could be written.`
      : `Run ${taskId} has ended, but the database refused its report. It is kept in ${path}.`,
  );
}

/** Ends the run as failed, cancelled or interrupted, with its partial text, and returns the error for the caller. */
async function fail(
  recorder: RunRecorder,
  writer: Writer,
  { taskId, kind, error }: Pick<RunStart, "kind"> & { taskId: string; error: unknown },
): Promise<unknown> {
  const { db } = recorder;
  if (!(error instanceof AppError)) {
    const shown = { code: "UNEXPECTED_ERROR", message: "An unexpected error ended the run." };
    await writer.finish({ to: "failed", error: shown });
    return new UnexpectedRunError(taskId, error);
  }
  const partial = await partialResult(db, taskId, error).catch(() => undefined);
  const ended = recorder.leaving.aborted && error.code === "CANCELLED" ? interrupted(partial) : error;
  const to = ended.code === "CANCELLED" ? "cancelled" : "failed";
  const isKept = to !== "cancelled" || (await keepsPartial(db, taskId).catch(() => true));
  const { code, message, suggestion } = ended;
  const shown = { code, message, suggestion };
  await writer.finish({ to, result: isKept ? partial : undefined, error: shown });
  if (!isKept) await writer.store("The request to keep nothing", () => dropResult(db, taskId));
  return withRun(ended, { taskId, status: to, next: isKept && partial !== undefined ? nextAfterPartial(kind) : [] });
}

/** The last finished round, else the best text received. */
async function partialResult(db: Database, taskId: string, error: AppError): Promise<RunResult | undefined> {
  const rounds = await resultOfRounds(await findRounds(db, taskId));
  if (rounds !== undefined) return rounds;
  const text = error.details?.["best_text"] ?? error.details?.["partial_text"];
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return { report: text.slice(0, MAX_KEPT_CHARACTERS), sources: [], metadata: {}, partial: true };
}

function interrupted(rounds: RunResult | undefined): AppError {
  return new AppError({
    code: "INTERRUPTED",
    message: "The process was stopped before the search was done.",
    suggestion: rounds === undefined ? "Ask it again." : "Its finished rounds are kept.",
  });
}

function truncateDetails(details: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === "string" ? value.slice(0, MAX_KEPT_CHARACTERS) : value,
  ]);
  return Object.fromEntries(entries);
}

function withRun(error: AppError, run: { taskId: string; status: string; next: readonly Action[] }): AppError {
  const { taskId, status, next } = run;
  const { message, details, cause } = error;
  const about = { next, details: details && truncateDetails(details), run: { task_id: taskId, status } };
  return new AppError({ ...error, message, cause, ...about });
}

interface Figures {
  backend: string | undefined;
  /** Notices for the user from the backends, without duplicates. */
  notices: string[];
  tokens: { input: number; output: number };
  cost: Cost;
}

type Meter = ReturnType<typeof createMeter>;

function createMeter(
  { clock, costOf, keyFingerprint }: Pick<RunRecorder, "clock" | "costOf" | "keyFingerprint">,
  run: Pick<RunStart, "earlierUsd" | "kind" | "owner"> & { taskId: string },
) {
  const tokens = { input: 0, output: 0 };
  let cost = NO_COST;
  const notices = new Set<string>();
  const entries: LedgerEntry[] = [];
  let changed: LedgerEntry[] = [];
  let backend: string | undefined;
  let model: string | undefined;
  const answered = (answer: Answer, at: number): Cost => {
    tokens.input += answer.usage.input;
    tokens.output += answer.usage.output;
    model = answer.model ?? model;
    backend = answer.backend;
    for (const notice of answer.notices) notices.add(notice);
    const added = costOf(answer.usage, answer.model, at);
    cost = addCosts(cost, added);
    return added;
  };
  return {
    entries,
    /** What `settle` has changed since the last call. */
    changedEntries: (): LedgerEntry[] => changed.splice(0),
    begin: (call: ModelCall) => {
      const at = clock.now();
      // The CLI chooses its own model if none is set.
      const maxUsd = costOf(maxUsageOf(call), call.model ?? DEFAULT_API_MODEL, at).usd;
      const { taskId, owner } = run;
      const kind = call.purpose === "correction" ? "correction" : KINDS[run.kind];
      const about = { taskId, owner, keyFingerprint, kind, model: call.model, isConfirmed: false, maxUsd, at };
      const entry: LedgerEntry = { entryId: crypto.randomUUID(), ...about };
      entries.push(entry);
      const settle = (outcome: Answer | AppError): void => {
        if (outcome instanceof AppError) {
          if (wasNotCharged(outcome)) entry.outcome = "uncharged";
        } else {
          // At the prices of the time when it was sent, like a background run.
          const isPartial = outcome.usage.isIncomplete === true;
          entry.outcome = { cost: answered(outcome, at), isPartial, at: clock.now() };
          entry.model = outcome.model ?? entry.model;
        }
        changed.push(entry);
      };
      return { entry, settle };
    },
    model: () => model,
    countedUsd: (): number =>
      (run.earlierUsd ?? 0) + entries.reduce((sum, entry) => sum + countedMicros(entry), 0) / MICROS,
    figures: (): Figures => ({
      backend,
      notices: [...notices],
      tokens: { ...tokens },
      cost: roundCost(cost),
    }),
  };
}

const KINDS: Record<RunKind, LedgerKind> = {
  search: "search",
  deep_research: "search",
  deep_search: "round",
  agent: "research",
};
