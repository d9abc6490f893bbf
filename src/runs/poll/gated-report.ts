/** Runs the result gates on a completed report: rejects placeholders and adds warnings. */

import type { Interaction } from "../../gemini/research-agent.ts";
import { isRecord } from "../../platform/is-record.ts";
import { unexpectedError } from "../../platform/unexpected-error.ts";
import { linkedSources } from "../../reports/document/document.ts";
import { allWarnings, emptyResultReason } from "../../reports/gates/result-gates.ts";
import type { ResearchDeps } from "../deps.ts";
import { isTableStart, materialOf } from "../start/start-options.ts";
import { NOT_A_REPORT } from "./endings.ts";
import type { PolledRun } from "../run.ts";

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
