/** What the user of a simulated history does, at random, and has it recorded as decisions. */

import { AppError } from "../../src/errors.ts";
import { planSubject, subjectOfRun } from "../kit/judge/decisions.ts";
import type { SimulatedProcess, World } from "./process.ts";

/** A window of the user, and another one, which may belong to the same process. */
interface Window {
  world: World;
  instance: SimulatedProcess;
  other: SimulatedProcess;
  record: (what: string) => void;
}

const ignore = (): undefined => undefined;

export function starts({ world: { chance, user, returned }, instance, record }: Window): void {
  const query = `question ${chance.is(0.3) ? "of all" : chance.upTo(1_000)}`;
  record(`starts ${query}`);
  const { answered } = user.ask(query);
  instance
    .start(query)
    .then(({ taskId }) => returned.add(taskId), ignore)
    .finally(answered);
}

/** From two windows at once, sometimes. */
export function startsWithPlan({ world: { chance, user, returned }, instance, other, record }: Window): void {
  const query = `plan of question ${chance.upTo(1_000_000)}`;
  for (const { start, processId } of chance.is(0.3) ? [instance, other] : [instance]) {
    record(`starts the ${query} in ${processId}`);
    const { answered } = user.ask(query);
    start(query, { plan: true })
      .then(({ taskId }) => returned.add(taskId), ignore)
      .finally(answered);
  }
}

interface WaitingPlan {
  task_id: string;
  interaction_id: string;
}

const WAITING = `select task_id, interaction_id from research_tasks as plan where part = 'plan' and status = 'completed'
  and not exists (select 1 from research_tasks where carries_on = plan.task_id and gave_way = 0) order by rowid`;

/** Changes the plan, or approves it, often in two windows at once. False if none is waiting. */
export function decidesOnPlan({ world: { chance, database, user }, instance, other, record }: Window): boolean {
  const plan = chance.is(0.8) ? chance.pick(database.all<WaitingPlan>(WAITING)) : undefined;
  if (plan === undefined) return false;
  const { task_id: taskId, interaction_id: id } = plan;
  const edit = chance.is(0.25) ? "Ask divers" : undefined;
  for (const window of chance.is(0.7) ? [instance, other] : [instance]) {
    record(`${edit === undefined ? "approves" : "changes"} the plan ${id} of ${taskId} in ${window.processId}`);
    user.ask(planSubject(id), taskId);
    window.decide(taskId, edit).catch(ignore);
  }
  return true;
}

/** Errors which say that there is nothing to cancel; after any other one the user knows that the run continues. */
const NOTHING_TO_CANCEL = ["RESEARCH_ALREADY_COMPLETED", "RESEARCH_FAILED"];

export function cancels({ world: { chance, database, user }, instance, record }: Window): void {
  const run = chance.pick(
    database.all<{ task_id: string; query: string }>("select task_id, query from research_tasks order by rowid"),
  );
  if (run === undefined) return;
  record(`cancels ${run.task_id}`);
  const keepPartial = chance.is(0.5);
  void user.cancelling({ taskId: run.task_id, query: run.query }, () =>
    instance.cancel(run.task_id, keepPartial).then(
      () => true,
      (error: unknown) => error instanceof AppError && NOTHING_TO_CANCEL.includes(error.code),
    ),
  );
}

/** Adopts the interaction that AI Studio shows, with this probability, or sends an unknown start again knowingly. */
export function resumes({ world, instance, record }: Window, adopts = 0.6): void {
  const { chance, database, google, user } = world;
  const run = chance.pick(
    database.all<{ task_id: string; status: string; query: string; part: string; options_json: string }>(
      "select * from research_tasks where status in ('start_unknown', 'failed') order by rowid",
    ),
  );
  if (run === undefined) return;
  const { task_id: taskId, status } = run;
  const subject = subjectOfRun(run);
  const sameSubject = google.ledger.filter((start) => start.subject === subject);
  const found = sameSubject.find((start) => start.run === taskId);
  const interactionId = chance.is(adopts) ? found?.id : undefined;
  if (interactionId === undefined && status === "start_unknown")
    user.askAgain({ subject, accepted: sameSubject.length });
  record(`resumes ${taskId} with ${interactionId}`);
  const { settled } = user.resuming(taskId);
  instance.resume(taskId, interactionId).then(settled, settled);
}
