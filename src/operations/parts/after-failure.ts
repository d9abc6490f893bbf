/** Errors and advice for a run without a report; never advises to pay twice without saying so. */

import type { Action, Advice } from "../../action.ts";
import { addCosts, roundCost } from "../../costs/actual.ts";
import { AppError } from "../../errors.ts";
import type { Backup } from "../../reports/files/backups.ts";
import { editOf, PLAN_ENDED } from "../../runs/plan/plan-store.ts";
import { keepsPartial } from "../../runs/cancel/cancel-store.ts";
import {
  aboutRun,
  isFinished,
  nextAfterPartial,
  type Run,
  type RunUsage,
  type StoredResult,
  usageOf,
} from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import type { OperationDeps } from "../operation.ts";
import { readStored } from "../../runs/history/read.ts";

/** Of a run without an interaction at Google. */
const chargedFor = ({ part, options }: Run): string =>
  part === "research" || editOf(options) !== undefined ? "Only its plan was charged." : "Nothing was charged.";

/** A run with an interaction at Google may be charged, so a new start would be charged again. */
export function adviceWithoutReport(run: Run): Advice {
  if (run.kind !== "agent") return { suggestion: run.error?.suggestion ?? "Ask the question again." };
  const { interactionId, status, cancelConfirmed } = run;
  if (run.error?.code === "PLAN_EXPIRED") return PLAN_ENDED;
  if (interactionId !== undefined) {
    return status === "cancelled"
      ? {
          suggestion:
            "It was started at Google and may have been charged; a report that still arrives is kept. A new start is charged again.",
        }
      : {
          suggestion: "It was started at Google and may have been charged; a new start is charged again.",
          next: [{ do: "poll_again" }],
        };
  }
  if (status === "cancelled" && cancelConfirmed !== true) {
    return { suggestion: "It is not known whether Google had started it, so a new start may be charged twice." };
  }
  if (status === "cancelled")
    return {
      suggestion: chargedFor(run),
      next: [{ do: run.followupContext === undefined ? "start" : "followup" }],
    };
  return { suggestion: `${chargedFor(run)} ${run.error?.suggestion ?? "Start it again."}` };
}

/** What a status advises; two actions at most, because it is read many times. */
export function nextAfterFailure({
  status,
  kind,
  progress,
}: Pick<Run, "status" | "kind" | "progress">): readonly Action[] {
  if (status === "start_unknown") return [{ do: "adopt" }, { do: "restart" }];
  return status === "failed" && kind === "deep_search" && progress > 0 ? nextAfterPartial(kind) : [];
}

/** All options after a start whose outcome is unknown. */
export const optionsAfterUnknownStart = ({ followupContext, error }: Run): Advice => ({
  // Why a restart was refused, which the user may be able to change.
  suggestion:
    `${error?.suggestion ?? ""} It is not repeated automatically, because it may be running and charged.`.trim(),
  next: [
    { do: "adopt" },
    { do: "restart" },
    ...(followupContext === undefined ? [{ do: "start", with: "force_new", cost: "again" } as const] : []),
    { do: "cancel" },
  ],
});

/** The file of a report that the database refused; undefined once the end of the run is stored. */
export const backupOf = (deps: Pick<OperationDeps, "backupOf">, { status, taskId }: Run): Backup | undefined =>
  isFinished(status) ? undefined : deps.backupOf(taskId);

/** The run has ended at Google, but the stored run is still unfinished. */
export const refusedByDatabase = (run: Run, { path }: Backup): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `The research has ended, but the database refused its report. It is kept in ${path}.`,
    suggestion: "Read that file. The report is stored here as soon as the database can be written.",
    next: [{ do: "save" }],
    details: { backup_file: path },
    run: aboutRun(run),
  });

/** The run with what is known about its end and was refused: cost, tokens and the reason. */
export async function withRefusedEnd(deps: Pick<OperationDeps, "backupOf" | "recorder">, run: Run): Promise<Run> {
  const backup = backupOf(deps, run);
  if (backup === undefined) return run;
  const { costOf } = await deps.recorder();
  // A run without usage shows what its plans cost.
  const { tokens, cost } = backup.usage === undefined ? run : addUsages(run, usageOf({ costOf }, run, backup.usage));
  const { code, message, suggestion } = refusedByDatabase(run, backup);
  const currentAction = "The research has ended, but its report is not stored yet";
  const error = { code, message, suggestion };
  return { ...run, tokens, cost: roundCost(cost), currentAction, obstacle: undefined, error };
}

const addUsages = (one: RunUsage, other: RunUsage): RunUsage => ({
  tokens: { input: one.tokens.input + other.tokens.input, output: one.tokens.output + other.tokens.output },
  cost: addCosts(one.cost, other.cost),
});

/** Why the run has no report. */
export async function withoutText(db: Database, run: Run): Promise<AppError> {
  if (run.status === "failed") {
    const { suggestion, next = [] } = adviceWithoutReport(run);
    return new AppError({
      code: "RESEARCH_FAILED",
      message: `This run failed before producing any text. ${run.error?.message ?? ""}`.trim(),
      suggestion: run.part === "research" ? `${suggestion ?? ""} Its status has its plan.`.trim() : suggestion,
      next,
      details: { reason: run.error?.code },
      run: aboutRun(run),
    });
  }
  if (isFinished(run.status)) {
    return new AppError({
      code: "RESEARCH_NOT_COMPLETED",
      message: (await keepsPartial(db, run.taskId))
        ? "This run was cancelled before it had any text."
        : "This run was cancelled without keeping what it had found.",
      ...adviceWithoutReport(run),
      run: aboutRun(run),
    });
  }
  return new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    ...(run.status === "pending" || run.status === "awaiting_approval" ? UNFINISHED[run.status] : UNFINISHED.running),
    ...(run.status === "start_unknown" ? { message: NO_REPORT, ...optionsAfterUnknownStart(run) } : {}),
    // The agent's action is text of a model that has read the web; check_research_status returns it with a caution.
    details: run.kind === "agent" ? {} : { current_action: run.currentAction },
    run: aboutRun(run),
  });
}

const UNFINISHED = {
  running: { message: "This run is still in progress.", next: [{ do: "wait" }] },
  pending: { message: "Google has not accepted this research yet.", next: [{ do: "wait" }] },
  awaiting_approval: {
    message: "This run has no report yet: its plan waits for approval.",
    next: [{ do: "read" }, { do: "approve" }],
  },
} satisfies Record<string, Advice & { message: string }>;

const NO_REPORT = "It is not known whether Google started this research, so there is no report.";

export interface FinishedReport {
  run: Run;
  result: StoredResult;
}

/** The final text of a run; throws while there is none. */
export async function finishedReport(db: Database, owner: string, taskId: string): Promise<FinishedReport> {
  const { run, result } = await readStored(db, owner, taskId);
  if (result === undefined || !isFinished(run.status)) throw await withoutText(db, run);
  return { run, result };
}
