/** Records the tool calls of a test's clients as decisions of one user, whichever process they go to. */

import type { Simulator } from "../../../simulator/server.ts";
import type { AcceptedStart } from "../../../simulator/interactions/ledger.ts";
import { readInteraction } from "../../../src/gemini/interactions/reader.ts";
import { createUser, planSubject, subjectOfRun, type User } from "./decisions.ts";

/** What the user knows of a run. */
export interface KnownRun {
  query: string;
  status: string;
  part: string;
  options_json: string;
  /** The interaction of a plan. */
  interaction_id: string | null;
}

export const KNOWN_RUN = "select * from research_tasks where task_id = ?";

interface Answered {
  success?: boolean | undefined;
  error?: { code: string } | undefined;
}

interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

export const userOf = (gemini: Simulator): User =>
  createUser(() =>
    gemini.ledger.acceptedStarts().map(({ id, plan }) => ({
      id,
      isPlan: plan?.isApproved === false,
      status: googleHas(gemini, id)?.status ?? "missing",
    })),
  );

export const googleHas = (gemini: Simulator, id: string) => readInteraction(gemini.interaction(id));

/** A turn of a plan is about the plan that it continues; everything else is about its question. */
export const subjectOfStart = ({ plan, previous, query }: AcceptedStart, question: string | undefined): string =>
  plan !== undefined && previous !== undefined ? planSubject(previous) : (question ?? query);

/** Errors which say that there is nothing to cancel; after any other one the user knows that the run continues. */
const NOTHING_TO_CANCEL = ["RESEARCH_ALREADY_COMPLETED", "RESEARCH_FAILED"];

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** `call` resolves with undefined if its process died before it answered. */
export async function recordCall<Answer extends Answered>(
  { user, gemini, knownRun }: { user: User; gemini: Simulator; knownRun: (taskId: string) => KnownRun | undefined },
  { name, input }: ToolCall,
  call: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const taskId = text(input["task_id"]) ?? "";
  const question = text(input["query"]) ?? text(input["question"]);
  if (name === "cancel_research") {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    await user.cancelling({ taskId, query: knownRun(taskId)?.query }, async () => {
      const answer = await call();
      resolve(answer);
      return answer?.success === true || NOTHING_TO_CANCEL.includes(answer?.error?.code ?? "");
    });
    return promise;
  }
  if (name === "start_deep_research" || name === "ask_followup") {
    const accepted = gemini.ledger.acceptedStarts().length;
    if (input["force_new"] !== true) return answered(user.ask(question ?? ""), call);
    user.askAgain({ subject: question ?? "", accepted });
  }
  if (name !== "resume_research") return call();
  const run = knownRun(taskId);
  if (input["approve"] === true || input["plan_edit"] !== undefined) {
    if (run?.part !== "plan" || run.interaction_id === null) return call();
    return answered(user.ask(planSubject(run.interaction_id), taskId), call);
  }
  if (input["accept_possible_double_charge"] === true && run?.status === "start_unknown") {
    const subject = subjectOfRun(run);
    const same = gemini.ledger.acceptedStarts().filter((start) => subjectOfStart(start, undefined) === subject);
    user.askAgain({ subject, accepted: same.length });
  }
  const { settled } = user.resuming(taskId);
  const answer = await call();
  if (answer !== undefined) settled();
  return answer;
}

/** A process that dies answers nothing more, so the question waits no longer. */
const answered = <Answer>(asked: ReturnType<User["ask"]>, call: () => Promise<Answer>): Promise<Answer> =>
  call().finally(asked.answered);
