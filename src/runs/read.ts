/** A run with what can be read of it: its result, or the finished rounds of one that has none. */

import { numberSources } from "../reports/report.ts";
import type { Database } from "../store/database.ts";
import { isFinished, type Run, type RunResult, type SavedRound } from "./run.ts";
import { findResult, findRounds } from "./result-store.ts";
import { findRun } from "./run-store.ts";

export async function readStored(
  db: Database,
  owner: string,
  taskId: string,
): Promise<{ run: Run; result: RunResult | undefined }> {
  const run = await findRun(db, owner, taskId);
  const stored = await findResult(db, taskId);
  // One without text is there only for what Google sent with it.
  const result = stored === undefined || stored.report.trim() === "" ? undefined : stored;
  if (result !== undefined || !isFinished(run.status)) return { run, result };
  // A process that died could not write a result; the rounds it had finished are there all the same.
  const rounds = await findRounds(db, taskId);
  const model = run.model ?? modelOf(rounds.at(-1)?.metadata ?? {});
  return { run: { ...run, model }, result: resultOfRounds(rounds) };
}

/** The last finished round is the best there is; its sources are those of all rounds before it too. */
export function resultOfRounds(rounds: SavedRound[]): RunResult | undefined {
  const last = rounds.at(-1);
  if (last === undefined) return undefined;
  return {
    report: last.report,
    sources: numberSources(rounds.flatMap((round) => round.sources)),
    metadata: { verified: last.verified },
    partial: true,
  };
}

function modelOf(metadata: Record<string, unknown>): string | undefined {
  const { model } = metadata;
  return typeof model === "string" ? model : undefined;
}
