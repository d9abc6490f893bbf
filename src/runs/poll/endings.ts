/** User-visible messages for runs that ended without a report. */

import type { AgentFinish } from "./poll-result-store.ts";
import type { PolledRun } from "../run.ts";
import type { FailureCause, Interaction } from "../../gemini/research-agent.ts";
import { isRecord } from "../../platform/is-record.ts";
import { unexpectedError } from "../../platform/unexpected-error.ts";
import { linkedSources } from "../../reports/document/document.ts";
import { allWarnings, emptyResultReason } from "../../reports/gates/result-gates.ts";
import type { ResearchDeps } from "../deps.ts";
import { isTableStart, materialOf } from "../start/start-options.ts";

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

const NOT_A_REPORT =
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

type GatedEnd = { to: "completed"; warnings: string[] } | { to: "failed"; message: string };

/** A text that is no report ends the run as failed; the text is kept as partial, because it was paid for. */
export function gateReport({ log }: Pick<ResearchDeps, "log">, run: PolledRun, interaction: Interaction): GatedEnd {
  try {
    // A table is structured data; whether it is one is checked where it is read.
    return isTableStart(run.options) ? { to: "completed", warnings: [] } : gatedEnd(run, interaction);
  } catch (error) {
    // A bug in a gate must not keep a paid report from being stored.
    const { id, message } = unexpectedError(error);
    log.forRun(run.taskId).error(message);
    return { to: "completed", warnings: [`The report could not be checked (unexpected error ${id}; see the log).`] };
  }
}

function gatedEnd(run: PolledRun, interaction: Interaction): GatedEnd {
  const { report } = interaction;
  const reason = emptyResultReason({ report, question: run.query });
  if (reason !== undefined && run.status === "running_async") {
    return { to: "failed", message: `${NOT_A_REPORT} ${reason}` };
  }
  // A follow-up answers from the report before it, and a run with material from that: neither needs a web page.
  const needsSources = run.followupContext === undefined && materialOf(run.options) === undefined;
  const isGrounded = needsSources ? hasSources(interaction) : undefined;
  const language = languageIn(run.options);
  // Of a run that had been cancelled or had failed before, its text is the result, whatever it is.
  return { to: "completed", warnings: allWarnings({ report, question: run.query, language, isGrounded }) };
}

const hasSources = ({ report, sources, searches }: Interaction): boolean =>
  sources.length > 0 || searches.length > 0 || linkedSources(report).length > 0;

function languageIn({ wishes }: Record<string, unknown>): string | undefined {
  const language = isRecord(wishes) ? wishes["language"] : undefined;
  return typeof language === "string" ? language : undefined;
}
