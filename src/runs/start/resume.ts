/** Resumes a run at the user's request: adopts an interaction id, polls again, or restarts an unknown start. */

import { AppError } from "../../errors.ts";
import type { PollResult, RequestVariant } from "../../gemini/research-agent.ts";
import { reopen } from "../poll/poll-result-store.ts";
import { currentOf } from "../conversation-store.ts";
import { flushUnchargedFailures } from "../recovery/unsettled-starts.ts";
import { adoptInteractionId, isHeldByAnother, unknownStartIn } from "../interaction-store.ts";
import { maxWaitOf, variantOf } from "./start-options.ts";
import type { ResearchDeps } from "../deps.ts";
import { type Run, aboutRun } from "../run.ts";
import type { Followup } from "./fallback.ts";
import { type Sending, startCarryingOn } from "./start.ts";
import type { CheckCost } from "./limits-store.ts";

export interface ResumeRequest {
  owner: string;
  taskId: string;
  interactionId: string | undefined;
  acceptDoubleCharge: boolean;
  /** The run that the user decided to send again; a later one is joined. */
  newest?: string | undefined;
  /** Of a restart: whether it may be made. */
  checkCost?: CheckCost | undefined;
  /** Of a restart: what it is expected to cost today. Without a price it keeps the estimate of its first start. */
  estimate?: Record<string, unknown> | undefined;
  /** How a follow-up is sent again. */
  followup?: (() => Promise<(Followup & { variant: RequestVariant }) | undefined>) | undefined;
  /** Aborted when the call is cancelled; a restart that has not been sent yet is then not sent. */
  signal?: AbortSignal | undefined;
}

/** `joined`: the run that the user decided to send again is no longer an unknown start; nothing is sent by this call. */
export type Resumed =
  | { kind: "adopted" | "polling" | "joined"; run: Run }
  | { kind: "restarted"; run: Run; taskId: string; sending: Sending };

export async function resumeAgentRun(deps: ResearchDeps, request: ResumeRequest): Promise<Resumed> {
  const { db, clock } = deps;
  const { owner, taskId, interactionId } = request;
  // A restart that failed uncharged and will not be sent has not taken the place of the unknown start.
  await flushUnchargedFailures(deps);
  const run = await currentOf(db, owner, taskId);
  if (interactionId !== undefined) return adopt(deps, run, { interactionId, named: taskId });
  if (request.acceptDoubleCharge && run.taskId !== request.newest) return { kind: "joined", run };
  if (run.status === "start_unknown") return resumeUnknown(deps, run, request);
  if (run.status === "running_async" || run.status === "pending")
    return { kind: request.acceptDoubleCharge ? "joined" : "polling", run };
  if (run.status !== "failed" || run.interactionId === undefined) throw nothingToResume(run);
  const now = clock.now();
  await reopen(db, run.taskId, { now, deadlineAt: now + maxWaitOf(run.options), queue: deps.queue });
  return { kind: "polling", run: await currentOf(db, owner, taskId) };
}

/** Also allowed during or after a restart: the restart has its own interaction, and both may be charged. */
async function adopt(
  deps: ResearchDeps,
  run: Run,
  { interactionId, named }: { interactionId: string; named: string },
): Promise<Resumed> {
  const { db, clock } = deps;
  const { owner } = run;
  const taskId = run.kind === "agent" ? await unknownStartIn(db, run.taskId, named) : undefined;
  if (taskId === undefined) throw nothingToAdopt(run);
  await rejectUnusableId(deps, { ...run, taskId }, interactionId);
  const now = clock.now();
  const adoption = { taskId, interactionId, deadlineAt: now + maxWaitOf(run.options), now };
  if (!(await adoptInteractionId(db, adoption, deps.queue))) throw notAdoptable(run);
  return { kind: "adopted", run: await currentOf(db, owner, taskId) };
}

async function resumeUnknown(deps: ResearchDeps, run: Run, request: ResumeRequest): Promise<Resumed> {
  const { db } = deps;
  const { owner, taskId } = request;
  if (!request.acceptDoubleCharge) {
    throw new AppError({
      code: "START_UNKNOWN",
      message: "It is not known whether this research was started; starting it again may be charged twice.",
      next: [{ do: "adopt" }, { do: "restart" }, { do: "cancel" }],
      run: aboutRun(run),
    });
  }
  // Read for the state that is restarted: without its context a follow-up would be another question.
  const followup = run.followupContext === undefined ? undefined : await request.followup?.();
  const { part } = run;
  const restarted = await startCarryingOn(deps, run, {
    from: "start_unknown",
    part,
    variant: followup?.variant ?? variantOf(run.options),
    followup,
    estimate: request.estimate ?? run.estimate,
    checkCost: request.checkCost,
    signal: request.signal,
  });
  const current = await currentOf(db, owner, taskId);
  return restarted === undefined ? { kind: "joined", run: current } : { ...restarted, kind: "restarted", run: current };
}

/** A mistyped id would end the run as expired, after which the right id could no longer be adopted. */
async function rejectUnusableId(deps: ResearchDeps, run: Run, interactionId: string): Promise<void> {
  // The same error as for an unknown id, so that it does not reveal which ids belong to other users.
  const taken = await isHeldByAnother(deps.db, interactionId, run.taskId);
  const polled = await deps.agent.poll(
    interactionId,
    AbortSignal.any([deps.leaving, AbortSignal.timeout(POLL_TIMEOUT_MS)]),
  );
  if (!taken && !UNKNOWN_TO_GOOGLE.has(polled.kind)) return;
  throw notAdoptable(run);
}

const notAdoptable = (run: Run): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message:
      "This interaction cannot be adopted: Google does not find it for your API key, or not yet, or another run already uses it.",
    suggestion: "Try again in a few minutes, or copy it from AI Studio again; the run is unchanged.",
    details: { field: "interaction_id" },
    run: aboutRun(run),
  });

const POLL_TIMEOUT_MS = 20_000;
/** 404, 403, and ids that Google rejects as malformed. */
const UNKNOWN_TO_GOOGLE: ReadonlySet<PollResult["kind"]> = new Set(["missing", "forbidden", "rejected"]);

function nothingToAdopt(run: Run): AppError {
  return new AppError({
    code: "INVALID_INPUT",
    message: "An interaction id can be adopted only by a run whose start is unknown.",
    suggestion: "Omit the interaction id.",
    details: { field: "interaction_id" },
    run: aboutRun(run),
  });
}

function nothingToResume(run: Run): AppError {
  const completed = run.status === "completed";
  const cancelled = run.status === "cancelled";
  const reason = cancelled ? "it was cancelled" : "it was never started at Google";
  return new AppError({
    code: completed ? "RESEARCH_ALREADY_COMPLETED" : "RESEARCH_FAILED",
    message: completed ? "This run is completed; there is nothing to retry." : `This run cannot be retried: ${reason}.`,
    suggestion: cancelled ? "The text that had arrived is kept, if any." : undefined,
    next: completed ? [{ do: "read" }] : [...(cancelled ? [{ do: "read" as const }] : []), { do: "start" }],
    run: aboutRun(run),
  });
}
