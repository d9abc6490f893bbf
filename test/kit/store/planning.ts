/** A run with a plan on a real database, and decisions on it. */

import type { TestContext } from "vitest";
import { FINISHED, openRunner, request, WORKING } from "./runner.ts";
import type { Agent, Interaction, RequestVariant, StartOutcome } from "../../../src/gemini/research-agent.ts";
import type { Database } from "../../../src/store/database.ts";
import type { ResearchDeps } from "../../../src/runs/deps.ts";
import { pollRun } from "../../../src/runs/poll/poll.ts";
import type { PolledRun } from "../../../src/runs/run.ts";
import { currentOf } from "../../../src/runs/conversation-store.ts";
import { polledRun, polledRuns, settleOutcome } from "./polled.ts";
import { startResearch } from "../../../src/runs/start/start.ts";
import { newestPlan } from "../../../src/runs/plan/plan-store.ts";
import { decideOnPlan, type PlanDecision } from "../../../src/runs/plan/decide.ts";

export const ACCEPT = Symbol("accept");

/** Google's side: interactions in the order in which they were accepted, each with what a poll of it returns. */
export async function stage(context: TestContext, outcomes: (StartOutcome | typeof ACCEPT)[] = []) {
  const { store, deps } = await openRunner(context);
  const sent: (RequestVariant | undefined)[] = [];
  const polls = new Map<string, Partial<Interaction>>();
  const agent: Partial<Agent> = {
    start: async ({ variant, checkBeforeSending }) => {
      const refusal = await checkBeforeSending();
      if (refusal !== undefined) return { kind: "withheld", error: refusal };
      sent.push(variant);
      const outcome = outcomes[sent.length - 1] ?? ACCEPT;
      return outcome === ACCEPT ? { kind: "accepted", interactionId: `v1_${sent.length}` } : outcome;
    },
    poll: async (id) => ({ kind: "found", interaction: { ...WORKING, id, ...polls.get(id) } }),
  };
  const research = deps(agent);
  const { db } = store;
  const claim = (): Promise<PolledRun> => polledRun(db);
  const poll = async (deps = research): Promise<void> => {
    for (const run of await polledRuns(db)) await settleOutcome(db, run, await pollRun(deps, run));
  };
  const started = await startResearch(research, { ...request, variant: { collaborativePlanning: true } });
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  polls.set("v1_1", planned("1. Ask fishermen"));
  return { db, research, sent, polls, claim, poll, taskId, run: () => currentOf(db, request.owner, taskId) };
}

export function planned(report: string): Partial<Interaction> {
  const { id: _id, ...ended } = FINISHED;
  return { ...ended, report };
}

export const decisionOn = (taskId: string, edit: string | undefined, plan: string | undefined): PlanDecision => ({
  owner: request.owner,
  taskId,
  edit,
  plan,
  estimate: {},
  callerWaitsMs: 0,
  checkCost: () => true,
  signal: new AbortController().signal,
});

/** Decides on the newest plan. */
export async function decide(research: ResearchDeps, taskId: string, edit?: string): Promise<string> {
  const { taskId: current } = await currentOf(research.db, request.owner, taskId);
  const plan = await newestPlan(research.db, current);
  const decided = await decideOnPlan(research, decisionOn(taskId, edit, plan?.taskId));
  if (decided.kind === "begun") await decided.sending;
  return decided.kind;
}

export const usdOf = async (db: Database, taskId: string): Promise<number | undefined> =>
  (await currentOf(db, request.owner, taskId)).cost.usd;
