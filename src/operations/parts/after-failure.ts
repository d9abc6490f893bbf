/** Errors and advice for a run without a report; never advises to pay twice without saying so. */

import { AppError } from "../../errors.ts";
import { KEY_PAGE, NO_KEY } from "../../gemini/key-page.ts";
import { HOW_TO_START_AGAIN } from "../../runs/plan/run-plan.ts";
import { keepsPartial } from "../../runs/cancel/cancel-store.ts";
import { isFinished, type Run } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";

const NOT_CHARGED = "Nothing was charged.";

/** A run with an interaction at Google may be charged, so a new start would be charged again. */
export function adviceWithoutReport(run: Run): string {
  if (run.kind !== "agent") return "Ask the question again.";
  const { interactionId, status, cancelConfirmed } = run;
  if (run.error?.code === "PLAN_EXPIRED") return HOW_TO_START_AGAIN;
  if (interactionId !== undefined) {
    return status === "cancelled"
      ? "It was started at Google and may have been charged; a report that still arrives is kept. A new start is charged again."
      : "It was started at Google and may have been charged. resume_research checks again, free of charge; a new start is charged again.";
  }
  if (status === "cancelled" && cancelConfirmed !== true) {
    return "It is not known whether Google had started it, so a new start may be charged twice.";
  }
  if (status === "cancelled")
    return `${NOT_CHARGED} ${run.followupContext === undefined ? "start_deep_research starts" : "ask_followup asks"} it again.`;
  return (
    NEXT[run.error?.code ?? ""] ??
    `${NOT_CHARGED} Check the name of the model, shorten or rephrase the question, then start again.`
  );
}

/** For people, who can run commands. Undefined unless the run failed without a key, which a server reads at its start. */
export const adviceWithoutKey = ({ error }: Pick<Run, "error">): string | undefined =>
  error?.message === NO_KEY ? "Run gemini-search-mcp init, restart the server, then ask again." : undefined;

const NEXT: Record<string, string> = {
  GEMINI_UNAVAILABLE: `${NOT_CHARGED} Check GEMINI_API_KEY (a key from a paid plan: ${KEY_PAGE}), the network and the quota, then start again.`,
  INTERRUPTED: `${NOT_CHARGED} Start it again.`,
  SQLITE_ERROR: `${NOT_CHARGED} Check the database and the disk, then start again.`,
  DISK_FULL: `${NOT_CHARGED} Free some disk space, then start again.`,
};

/** All options after a start whose outcome is unknown. */
export const optionsAfterUnknownStart = ({ followupContext }: Run): string =>
  `It is not repeated automatically, because it may be running and charged. Options: resume_research with its interaction_id (AI Studio shows it) adopts it, free of charge; resume_research with accept_possible_double_charge sends it again under the same task_id; ${followupContext === undefined ? "start_deep_research with force_new starts a separate run; " : ""}cancel_research abandons it.`;

/** Whether the run was cancelled with save_partial false. */
export async function wasDiscarded(db: Database, { status, taskId }: Run): Promise<boolean> {
  return status === "cancelled" && !(await keepsPartial(db, taskId));
}

/** The run has ended at Google, but the stored run is still unfinished. */
export const refusedByDatabase = (run: Run, backup: string): AppError =>
  new AppError({
    code: "SQLITE_ERROR",
    message: `The research has ended, but the database refused its report. It is kept in ${backup}.`,
    suggestion:
      "Read that file. The report is stored here as soon as the database can be written: check the disk space.",
    details: { backup_file: backup },
    run: { task_id: run.taskId, status: run.status, progress: run.progress },
  });

export function withoutText(run: Run, isDiscarded: boolean): AppError {
  const about = { task_id: run.taskId, status: run.status, progress: run.progress };
  if (run.status === "failed") {
    return new AppError({
      code: "RESEARCH_FAILED",
      message: `This run failed before producing any text. ${run.error?.message ?? ""}`.trim(),
      suggestion: `${adviceWithoutReport(run)}${run.plan?.isPlanning === false ? " check_research_status returns its plan." : ""}`,
      details: { reason: run.error?.code },
      run: about,
    });
  }
  if (isFinished(run.status)) {
    return new AppError({
      code: "RESEARCH_NOT_COMPLETED",
      message: isDiscarded ? DISCARDED : "This run was cancelled before it had any text.",
      suggestion: adviceWithoutReport(run),
      run: about,
    });
  }
  return new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    ...(run.status === "pending" || run.status === "awaiting_approval" ? UNFINISHED[run.status] : UNFINISHED.running),
    ...(run.status === "start_unknown" ? { message: NO_REPORT, suggestion: optionsAfterUnknownStart(run) } : {}),
    // The agent's action is text of a model that has read the web; check_research_status returns it with a caution.
    details: run.kind === "agent" ? {} : { current_action: run.currentAction },
    run: about,
  });
}

export const DISCARDED = "This run was cancelled with save_partial false, so nothing was kept.";

const UNFINISHED = {
  running: { message: "This run is still in progress.", suggestion: "Try again in a moment." },
  pending: { message: "Google has not accepted this research yet.", suggestion: "Try again in a moment." },
  awaiting_approval: {
    message: "This run has no report yet: its plan waits for approval.",
    suggestion: "resume_research with approve true starts the research, which is charged.",
  },
};

const NO_REPORT = "It is not known whether Google started this research, so there is no report.";
