/** User-visible messages for runs that ended without a report. */

import type { AgentFinish } from "./poll-result-store.ts";
import type { PolledRun } from "../run.ts";
import type { FailureCause, Interaction } from "../../gemini/research-agent.ts";

const FAILED: Record<FailureCause, string> = {
  credits: "The research failed at Google: the prepaid credits of the API key's billing account were used up.",
  quota: "The research failed at Google: the API key's quota was used up. Check its limits in Google AI Studio.",
  blocked: "The research failed at Google: its content was blocked by a safety filter. Ask the question differently.",
  rejected: "The research failed at Google: it could not work with this question. Ask it differently.",
  access: "The research failed at Google: the API key was not allowed to continue. Check the key and its plan.",
  overloaded: "The research failed at Google: the service was overloaded.",
  timeout: "The research failed at Google: it took longer than Google allows. Ask a narrower question.",
  internal: "The research failed at Google.",
};

const ENDED_EARLY: Record<string, string> = {
  incomplete: "The research ended before it was complete.",
  budget_exceeded: "The research used up its budget at Google before it was complete.",
  requires_action: "The research stopped because it needs an action that is not possible here.",
};

export const failedMessage = ({ failureCause }: Interaction): string => FAILED[failureCause ?? "internal"];

export const endedEarlyMessage = ({ rawStatus }: Interaction): string =>
  ENDED_EARLY[rawStatus] ?? "The research ended early.";

export const NO_REPORT =
  "Google reported the research as completed but sent no report. What it sent is kept in the database.";

export const NOT_A_REPORT =
  "Google reported the research as completed but sent no report. What it sent is kept and can be read; start the research again if you need it.";

export const UNKNOWN_STATUS =
  "Google reports an unknown status for this research, and it no longer changes. What was received is kept; it can be polled again.";

export const REJECTED =
  "Google has stopped returning this research: it rejects every request for it. What was received is kept; it can be polled again.";

export const EXPIRED = "Research session expired on Gemini servers. Task was interrupted and cannot be recovered.";

/** The end of a run that Google returned nothing about. */
export const failure = (run: PolledRun, error: { code: string; message: string }, now: number): AgentFinish => ({
  run,
  to: "failed",
  error,
  usageFinal: false,
  now,
});
