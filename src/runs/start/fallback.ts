/** What follows when Google refuses to continue an interaction: a second attempt with the stored report as context. */

import type { FailureReason } from "../../errors.ts";
import type { RequestVariant, StartOutcome } from "../../gemini/research-agent.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { newStartIds } from "../attempt-store.ts";
import type { ResearchDeps } from "../deps.ts";
import type { FollowupContext, Run } from "../run.ts";
import { commitFallback } from "./fallback-store.ts";

/** The stored report as context, and a notice if it did not fit. */
export interface StoredReportContext {
  input: string;
  notice: string | undefined;
}

/** How a follow-up is sent. */
export interface Followup {
  context: FollowupContext;
  /** Reads the stored report, for when Google does not continue the interaction; undefined if there is none. */
  readStoredReport: () => Promise<StoredReportContext | undefined>;
}

interface RefusedAttempt {
  run: Run;
  attemptId: string;
  variant?: RequestVariant | undefined;
  followup?: Followup | undefined;
}

/**
 * 404: Google has deleted the interaction, usually because its retention has ended. 400: one model was reported to reject
 * the continuation of an agent's interaction. Both are refusals, which are not charged. A refusal for another reason,
 * such as the key or the location, would meet the stored report as well.
 */
const CANNOT_CONTINUE: ReadonlySet<number | undefined> = new Set([400, 404]);
const ABOUT_THE_REQUEST: ReadonlySet<FailureReason | undefined> = new Set(["input", "config"]);

/** The attempt to send next; undefined if the refusal is final. */
export async function fallBackToStoredReport<Attempt extends RefusedAttempt>(
  deps: ResearchDeps,
  attempt: Attempt,
  outcome: StartOutcome,
): Promise<Attempt | undefined> {
  const {
    run: { taskId },
    attemptId: refusedId,
    variant,
    followup,
  } = attempt;
  if (followup === undefined || variant?.previousInteractionId === undefined) return undefined;
  if (outcome.kind !== "refused" || !CANNOT_CONTINUE.has(outcome.status)) return undefined;
  if (!ABOUT_THE_REQUEST.has(outcome.error.reason)) return undefined;
  const { attemptId } = newStartIds();
  try {
    const stored = await followup.readStoredReport();
    if (stored === undefined) return undefined;
    const { key: keyFingerprint, baseUrl } = deps.agent.fingerprint;
    const { processId, clock } = deps;
    const { notice, input } = stored;
    const next = { attemptId, taskId, refusedId, processId, keyFingerprint, baseUrl, notice, now: clock.now() };
    if (!(await commitFallback(deps.db, next))) return undefined;
    failpoint("after-fallback");
    return { ...attempt, attemptId, variant: { model: variant.model, input } };
  } catch {
    // The refusal is recorded instead. If the commit was stored after all, its attempt becomes an unknown start.
    return undefined;
  }
}
