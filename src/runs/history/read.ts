/** Reads a run with its result, or with its finished rounds if it has no result; and waits for a run, since any process may work on it. */

import { keepSuggestions } from "../../reports/suggestions/keep.ts";
import type { Database } from "../../store/database.ts";
import { currentOf } from "../conversation-store.ts";
import { newestPlan } from "../plan/plan-store.ts";
import { isFinished, type Run, type RunResult, type SavedRound, type StoredResult } from "../run.ts";
import { findResult, findRounds } from "../result-store.ts";
import type { Clock } from "../../platform/clock.ts";

export interface StoredRun {
  run: Run;
  result: StoredResult | undefined;
  /** The newest plan, of a run without a report. */
  plan?: string | undefined;
}

export async function readStored(db: Database, owner: string, taskId: string): Promise<StoredRun> {
  const run = await currentOf(db, owner, taskId);
  // The text of a plan is no report.
  const stored = run.part === "plan" ? undefined : await findResult(db, run.taskId);
  // A result without text only stores other data that Google sent.
  const result = stored === undefined || stored.report.trim() === "" ? undefined : stored;
  if (!isFinished(run.status)) return { run, result, plan: await planOf(db, run) };
  if (result !== undefined) return { run, result };
  // A process that crashed wrote no result, but its finished rounds are stored.
  const rounds = await findRounds(db, run.taskId);
  const plan = await planOf(db, run);
  const model = run.model ?? modelOf(rounds.at(-1)?.metadata ?? {});
  return { run: { ...run, model }, result: await resultOfRounds(rounds), plan };
}

const planOf = async (db: Database, { part, taskId }: Run): Promise<string | undefined> =>
  part === "plan" || part === "research" ? (await newestPlan(db, taskId))?.text : undefined;

/** The report of the last finished round with the sources of all rounds. */
export async function resultOfRounds(rounds: SavedRound[]): Promise<RunResult | undefined> {
  const last = rounds.at(-1);
  if (last === undefined) return undefined;
  const { citeByUse } = await import("../../reports/document/numbered.ts");
  return {
    report: last.report,
    sources: citeByUse(
      last.report,
      rounds.flatMap((round) => round.sources),
    ).sources,
    metadata: { verified: last.verified, ...(last.verified ? { verified_in_round: last.roundNumber } : {}) },
    partial: true,
    searchSuggestions: keepSuggestions(rounds.flatMap(suggestionsOf)),
  };
}

function suggestionsOf({ metadata }: SavedRound): string[] {
  const { search_suggestions: kept } = metadata;
  return Array.isArray(kept) ? kept.filter((html) => typeof html === "string") : [];
}

function modelOf(metadata: Record<string, unknown>): string | undefined {
  const { model } = metadata;
  return typeof model === "string" ? model : undefined;
}

const POLL_INTERVAL_MS = 100;

export interface Wait {
  owner: string;
  taskId: string;
  until: (run: Run) => boolean | Promise<boolean>;
  ms: number;
  signal?: AbortSignal | undefined;
}

/** Returns the run when the condition holds, the time is over or the signal is aborted. */
export async function waitForRun(db: Database, clock: Clock, wait: Wait): Promise<Run> {
  const timeoutAt = clock.monotonic() + wait.ms;
  for (;;) {
    const run = await currentOf(db, wait.owner, wait.taskId);
    const left = timeoutAt - clock.monotonic();
    if ((await wait.until(run)) || left <= 0 || wait.signal?.aborted === true) return run;
    await clock.sleep(Math.min(POLL_INTERVAL_MS, left), wait.signal).catch(() => undefined);
  }
}
