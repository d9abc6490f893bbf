/**
 * Kills processes that start, follow, cancel, save and resume runs, at named points and at random, while others
 * continue.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { ProductProcess } from "./process.ts";
import type { KillWorld } from "./world.ts";

/** The failpoints of the test build, by the action that reaches them. */
export const KILL_POINTS = {
  start: ["after-intent", "before-post", "during-post", "after-post", "after-id"],
  follow: ["after-claim", "after-poll", "before-finish", "after-finish", "after-outbox-claim", "after-notify"],
  cancel: ["after-cancel-flag", "during-cancel"],
  save: ["after-temp-write", "after-rename"],
} as const;

/** Of a schedule: before an occurrence is claimed, and after each step of its start. */
export const SCHEDULE_KILL_POINTS = ["before-occurrence", ...KILL_POINTS.start, "after-search-claim"] as const;

type KillTrigger = keyof typeof KILL_POINTS;
type Kill = { trigger: KillTrigger; point: string } | { trigger: "random" };

/** Longer than any process needs to reach its failpoint, once it has started. */
const MAX_LIFETIME_MS = 5_000;

export interface KillPlan {
  /** Kills at each named point. */
  each: number;
  random: number;
  /** Number of concurrent processes. */
  lanes: number;
}

export async function killAll(world: KillWorld, plan: KillPlan): Promise<void> {
  await prepare(world);
  await planOnce(world);
  await schedule(world);
  const named = Object.entries(KILL_POINTS).flatMap(([trigger, points]) =>
    points.map((point) => ({ trigger, point }) as Kill),
  );
  const todo: Kill[] = [
    ...named.flatMap((kill) => Array.from({ length: plan.each }, () => kill)),
    ...Array.from({ length: plan.random }, (): Kill => ({ trigger: "random" })),
  ].toSorted(() => world.random() - 0.5);
  const lane = async (): Promise<void> => {
    for (let kill = todo.pop(); kill !== undefined; kill = todo.pop()) {
      const name = kill.trigger === "random" ? "random" : kill.point;
      // Retried if the point was not reached because another process was faster.
      while ((await runUntilKilled(world, kill)) !== name) count(world, "elsewhere");
      count(world, name);
    }
  };
  await Promise.all(Array.from({ length: plan.lanes }, lane));
}

const count = ({ kills }: KillWorld, name: string): void => void kills.set(name, (kills.get(name) ?? 0) + 1);

/** Creates the database and one completed run, which saving a report needs. */
export async function prepare(world: KillWorld): Promise<void> {
  const child = world.begin();
  await start(world, child, "A run to be saved");
  while (completedRun(world) === undefined) await sleep(50);
  child.closeStdin();
  await child.ended;
  // Processes delete their rows, and those of dead processes; the judge needs to know which of them were killed.
  world.query("create table started_processes (process_id text, pid integer)");
  world.query(
    "create trigger record_process after insert on processes begin insert into started_processes values (new.process_id, new.pid); end",
  );
}

/** A plan that is approved in two windows and cancelled by the id of its start: on a busy machine, random kills may reach none. */
async function planOnce(world: KillWorld): Promise<void> {
  const child = world.begin();
  const taskId = (await start(world, child, fresh("a first plan"), { plan: true })) ?? "";
  const writing = "select status from research_tasks where task_id = ? and status in ('pending', 'running_async')";
  while (world.query(writing, taskId).length > 0) await sleep(50);
  await decideOnPlan(world, child);
  await child.call("cancel_research", { task_id: taskId });
  child.closeStdin();
  await child.ended;
}

const SCHEDULED = "What is new about heat pumps?";

/** A schedule far in the future; `makeDue` brings its occurrences. */
async function schedule(world: KillWorld): Promise<void> {
  const child = world.begin();
  const rule = { action: "create", every: "month", time_zone: "Europe/Berlin", budget_usd: 10_000 };
  const answer = await child.call("schedule_research", { ...rule, query: SCHEDULED });
  if (answer?.success !== true) throw new Error(`The schedule was not made: ${JSON.stringify(answer?.error)}`);
  child.closeStdin();
  await child.ended;
}

/** An occurrence is one decision, however many processes find it due; one that nobody has claimed yet stays one. */
async function makeDue(world: KillWorld): Promise<void> {
  const due = Date.now() - 86_400_000;
  const waiting = "update schedules set next_at = ? where next_at > ? returning schedule_id";
  // Later than the last one, or it would be passed over as over already.
  if (world.query(waiting, due + (occurrences += 1), Date.now()).length === 0) return;
  world.user.askAgain({ subject: SCHEDULED, accepted: occurrences });
}

let occurrences = 0;

/** What may be reserved at once by processes that are killed at random: about one start. */
const ROOM_USD = 6;
/** So that others reach their named point. */
const NAMED_ROOM_USD = 400;

/** All processes have a hard budget, which no kill may exceed: what is used by now, and some room. */
function hardBudget(world: KillWorld, roomUsd: number): Record<string, string> {
  const usd = Math.ceil(usedUsd(world)) + roomUsd;
  world.hardUsd = Math.max(world.hardUsd, usd);
  return { BUDGET_DAY_USD: `${usd}/${usd}` };
}

const usedUsd = (world: KillWorld): number =>
  (world.query<{ micros: number }>("select coalesce(sum(micros), 0) as micros from ledger")[0]?.micros ?? 0) /
  1_000_000;

async function runUntilKilled(world: KillWorld, kill: Kill): Promise<string> {
  const { random } = world;
  const point = kill.trigger === "random" ? undefined : kill.point;
  const pass = 1 + Math.floor(random() * (kill.trigger === "start" ? 3 : kill.trigger === "follow" ? 2 : 1));
  const asWorker = kill.trigger === "random" && random() < 0.15;
  const child = world.begin({
    ...(asWorker ? { args: ["worker"] } : {}),
    failpoint: point === undefined ? undefined : `${point}:${pass}`,
    env: hardBudget(world, point === undefined ? ROOM_USD : NAMED_ROOM_USD),
  });
  // Random kills also hit the start of a process; a named point is given its time after it, on a busy machine too.
  if (kill.trigger !== "random") await child.ready;
  let killedByTimer = false;
  const timer = setTimeout(
    () => {
      killedByTimer = true;
      child.kill();
    },
    kill.trigger === "random" ? 80 + random() * 900 : MAX_LIFETIME_MS,
  );
  if (!asWorker) await act(world, child, kill.trigger);
  const { killed, code } = await child.ended;
  clearTimeout(timer);
  if (!killed) throw new Error(`A process exited with code ${code}: ${child.stderr()}`);
  return killedByTimer ? "random" : (point ?? "itself");
}

async function act(world: KillWorld, child: ProductProcess, trigger: KillTrigger | "random"): Promise<void> {
  const { random } = world;
  switch (trigger) {
    case "start":
    case "follow":
      await Promise.all(["a", "b", "c"].map((name) => start(world, child, fresh(name))));
      return;
    case "cancel":
      await startAndCancel(world, child);
      return;
    case "save":
      await save(world, child);
      return;
    case "random": {
      const actions = [startOne, startOne, startOne, startTwin, startAndCancel, save, resume];
      actions.push(startPlan, decideOnPlan, decideOnPlan, cancelAny, askFollowup, askFollowup, makeDue);
      const some = actions.toSorted(() => random() - 0.5).slice(0, 1 + Math.floor(random() * 4));
      await Promise.all(some.map((action) => action(world, child)));
    }
  }
}

let questions = 0;
export const fresh = (about: string): string => `Question ${(questions += 1)} about ${about}`;

export async function start(
  world: KillWorld,
  child: ProductProcess,
  query: string,
  options: { plan?: boolean } = {},
): Promise<string | undefined> {
  const answer = await child.call("start_deep_research", { query, ...options });
  const { task_id: taskId, success, joined, error } = answer ?? {};
  if (error?.code === "BUDGET_EXCEEDED") world.refused += 1;
  if (taskId === undefined) return undefined;
  world.returned.add(taskId);
  // A call that joins a start in flight returns its id before the outcome is known.
  if (success === true && joined !== true) world.accepted.add(taskId);
  return taskId;
}

const startOne = async (world: KillWorld, child: ProductProcess): Promise<void> =>
  void (await start(world, child, fresh("one")));

/** The same question twice at once, or shortly after another process asked it, is one start. */
async function startTwin(world: KillWorld, child: ProductProcess): Promise<void> {
  const query = world.random() < 0.5 ? fresh("twins") : `Question about a shared twin ${questions >> 4}`;
  await Promise.all([start(world, child, query), start(world, child, query)]);
}

export async function startAndCancel(world: KillWorld, child: ProductProcess): Promise<void> {
  const taskId = await start(world, child, fresh("nothing"));
  if (taskId === undefined) return;
  const save_partial = world.random() < 0.5;
  await Promise.all([1, 2].map(() => child.call("cancel_research", { task_id: taskId, save_partial })));
}

/** A further question about a finished run, or a table of it, in two windows at once, which is one decision. */
async function askFollowup(world: KillWorld, child: ProductProcess): Promise<void> {
  const taskId = completedRun(world);
  if (taskId === undefined) return;
  const table = world.random() < 0.5 ? { columns: ["Maker"] } : {};
  const input = { task_id: taskId, question: fresh("makers"), wait: false, ...table };
  const answers = await Promise.all([1, 2].map(() => child.call("ask_followup", input)));
  for (const answer of answers) if (answer?.task_id !== undefined) world.returned.add(answer.task_id);
}

const startPlan = async (world: KillWorld, child: ProductProcess): Promise<void> =>
  void (await start(world, child, fresh("a plan"), { plan: true }));

/** Approves a plan in two windows at once, which is one decision, or has it changed. */
async function decideOnPlan(world: KillWorld, child: ProductProcess): Promise<void> {
  const [plan] = world.query<{ task_id: string }>(
    `select task_id from research_tasks as plan where part = 'plan' and status = 'completed' and not exists
    (select 1 from research_tasks where carries_on = plan.task_id and gave_way = 0) order by random() limit 1`,
  );
  if (plan === undefined) return;
  const { task_id } = plan;
  const decision = world.random() < 0.3 ? { plan_edit: "Ask divers, too" } : { approve: true };
  await Promise.all([1, 2].map(() => child.call("resume_research", { task_id, ...decision })));
}

/** Any run may be cancelled, by any of the ids that the user knows. */
async function cancelAny(world: KillWorld, child: ProductProcess): Promise<void> {
  const open = "(status in ('pending', 'running_async') or (part = 'plan' and status = 'completed'))";
  const [run] = world.query<{ task_id: string }>(
    `select task_id from research_tasks where ${open} and kind = 'agent' order by random() limit 1`,
  );
  if (run !== undefined) await child.call("cancel_research", { task_id: run.task_id });
}

const completedRun = (world: KillWorld): string | undefined => {
  const rows = world.query<{ task_id: string }>(
    "select task_id from research_tasks where status = 'completed' and part <> 'plan' order by random() limit 1",
  );
  return rows[0]?.task_id;
};

export async function save(world: KillWorld, child: ProductProcess): Promise<void> {
  const taskId = completedRun(world);
  // Without metadata the file depends only on stored data, so the judge can compute its content.
  if (taskId !== undefined) await child.call("save_research_to_markdown", { task_id: taskId, include_metadata: false });
}

/** The user's options for an unknown start: adopt the id that AI Studio shows, or start it again knowingly. */
async function resume(world: KillWorld, child: ProductProcess): Promise<void> {
  const [unknown] = world.query<{ task_id: string }>(
    "select task_id from research_tasks where status = 'start_unknown' order by random() limit 1",
  );
  if (unknown === undefined) return;
  const { task_id } = unknown;
  // The newest: earlier ones may be plans, whose ids are known.
  const found = world.gemini.ledger.acceptedStarts().findLast(({ labels }) => labels["run"] === task_id);
  await child.call("resume_research", {
    task_id,
    ...(found !== undefined && world.random() < 0.7
      ? { interaction_id: found.id }
      : { accept_possible_double_charge: true }),
  });
}

/** A worker finishes all remaining runs and exits. */
export async function drain(world: KillWorld): Promise<void> {
  const worker = world.begin({ args: ["worker", "--until-idle"] });
  const timer = setTimeout(worker.kill, 240_000);
  const { code } = await worker.ended;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`The last worker did not exit when idle: ${worker.stderr()}`);
}
