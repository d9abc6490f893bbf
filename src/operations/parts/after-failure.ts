/** Advice for a run that ended without a report; never advises to pay twice without saying so. */

import { KEY_PAGE } from "../../gemini/key-page.ts";
import { HOW_TO_START_AGAIN } from "../../runs/plan/run-plan.ts";
import type { Run } from "../../runs/run.ts";

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

const NEXT: Record<string, string> = {
  GEMINI_UNAVAILABLE: `${NOT_CHARGED} Check GEMINI_API_KEY (a key from a paid plan: ${KEY_PAGE}), the network and the quota, then start again.`,
  INTERRUPTED: `${NOT_CHARGED} Start it again.`,
  SQLITE_ERROR: `${NOT_CHARGED} Check the database and the disk, then start again.`,
  DISK_FULL: `${NOT_CHARGED} Free some disk space, then start again.`,
};

/** All options after a start whose outcome is unknown. */
export const optionsAfterUnknownStart = ({ followupContext }: Run): string =>
  `It is not repeated automatically, because it may be running and charged. Options: resume_research with its interaction_id (AI Studio shows it) adopts it, free of charge; resume_research with accept_possible_double_charge sends it again under the same task_id; ${followupContext === undefined ? "start_deep_research with force_new starts a separate run; " : ""}cancel_research abandons it.`;
