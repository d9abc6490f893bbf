/** Kills: processes that start, follow, cancel, save and resume runs die at named points and at random, and others go on. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Life } from "./process.ts";
import type { KillWorld } from "./world.ts";

/** Where the test build can die, by what a life has to do to get there. */
export const KILL_POINTS = {
  start: ["after-intent", "before-post", "during-post", "after-post", "after-id"],
  follow: ["after-claim", "after-look", "before-finish", "after-finish", "after-outbox-claim", "after-notify"],
  cancel: ["after-cancel-flag", "during-cancel"],
  save: ["after-temp-write", "after-rename"],
} as const;

type Way = keyof typeof KILL_POINTS;
type Kill = { way: Way; point: string } | { way: "random" };

/** Longer than any life needs to reach its point. */
const LIFE_MS = 5_000;

export interface KillPlan {
  /** At each named point. */
  each: number;
  random: number;
  /** Processes at a time. */
  lanes: number;
}

export async function killAll(world: KillWorld, plan: KillPlan): Promise<void> {
  await prepare(world);
  const named = Object.entries(KILL_POINTS).flatMap(([way, points]) => points.map((point) => ({ way, point }) as Kill));
  const todo: Kill[] = [
    ...named.flatMap((kill) => Array.from({ length: plan.each }, () => kill)),
    ...Array.from({ length: plan.random }, (): Kill => ({ way: "random" })),
  ].toSorted(() => world.random() - 0.5);
  const lane = async (): Promise<void> => {
    for (let kill = todo.pop(); kill !== undefined; kill = todo.pop()) {
      const name = kill.way === "random" ? "random" : kill.point;
      // A point that was not reached, because another process was faster, is tried again.
      while ((await liveAndDie(world, kill)) !== name) count(world, "elsewhere");
      count(world, name);
    }
  };
  await Promise.all(Array.from({ length: plan.lanes }, lane));
}

const count = ({ kills }: KillWorld, name: string): void => void kills.set(name, (kills.get(name) ?? 0) + 1);

/** A database and one completed run, which lives that save a report need. */
export async function prepare(world: KillWorld): Promise<void> {
  const life = world.begin();
  await start(world, life, "A run to be saved");
  while (completedRun(world) === undefined) await sleep(50);
  life.closeStdin();
  await life.ended;
}

async function liveAndDie(world: KillWorld, kill: Kill): Promise<string> {
  const { random } = world;
  const point = kill.way === "random" ? undefined : kill.point;
  const pass = 1 + Math.floor(random() * (kill.way === "start" ? 3 : kill.way === "follow" ? 2 : 1));
  const asWorker = kill.way === "random" && random() < 0.15;
  const life = world.begin({
    ...(asWorker ? { args: ["worker"] } : {}),
    failpoint: point === undefined ? undefined : `${point}:${pass}`,
  });
  let byUs = false;
  const timer = setTimeout(
    () => {
      byUs = true;
      life.kill();
    },
    kill.way === "random" ? 80 + random() * 900 : LIFE_MS,
  );
  if (!asWorker) await act(world, life, kill.way);
  const { killed, code } = await life.ended;
  clearTimeout(timer);
  if (!killed) throw new Error(`A process left by itself with code ${code}: ${life.stderr()}`);
  return byUs ? "random" : (point ?? "itself");
}

async function act(world: KillWorld, life: Life, way: Way | "random"): Promise<void> {
  const { random } = world;
  switch (way) {
    case "start":
    case "follow":
      await Promise.all(["a", "b", "c"].map((name) => start(world, life, fresh(name))));
      return;
    case "cancel":
      await startAndCancel(world, life);
      return;
    case "save":
      await save(world, life);
      return;
    case "random": {
      const deeds = [startOne, startOne, startOne, startTwin, startAndCancel, save, resume];
      const some = deeds.toSorted(() => random() - 0.5).slice(0, 1 + Math.floor(random() * 4));
      await Promise.all(some.map((deed) => deed(world, life)));
    }
  }
}

let questions = 0;
export const fresh = (about: string): string => `Question ${(questions += 1)} about ${about}`;

export async function start(world: KillWorld, life: Life, query: string): Promise<string | undefined> {
  const answer = await life.call("start_deep_research", { query });
  const { task_id: taskId, success, joined } = answer ?? {};
  if (taskId === undefined) return undefined;
  world.returned.add(taskId);
  // Who joins a start that is being sent is told its id, and cannot know yet what becomes of it.
  if (success === true && joined !== true) world.accepted.add(taskId);
  return taskId;
}

const startOne = async (world: KillWorld, life: Life): Promise<void> => void (await start(world, life, fresh("one")));

/** The same twice at the same time is one start; so is what another life asked a moment ago. */
async function startTwin(world: KillWorld, life: Life): Promise<void> {
  const query = world.random() < 0.5 ? fresh("twins") : `Question about everybody's twin ${questions >> 4}`;
  await Promise.all([start(world, life, query), start(world, life, query)]);
}

export async function startAndCancel(world: KillWorld, life: Life): Promise<void> {
  const taskId = await start(world, life, fresh("nothing"));
  if (taskId === undefined) return;
  const save_partial = world.random() < 0.5;
  await Promise.all([1, 2].map(() => life.call("cancel_research", { task_id: taskId, save_partial })));
}

const completedRun = (world: KillWorld): string | undefined => {
  const rows = world.query<{ task_id: string }>(
    "select task_id from research_tasks where status = 'completed' order by random() limit 1",
  );
  return rows[0]?.task_id;
};

export async function save(world: KillWorld, life: Life): Promise<void> {
  const taskId = completedRun(world);
  // Without metadata the file is a function of what is stored: the judge can tell what it must hold.
  if (taskId !== undefined) await life.call("save_research_to_markdown", { task_id: taskId, include_metadata: false });
}

/** What a user does about an unknown start: adopts the id that AI Studio shows, or starts it again knowingly. */
async function resume(world: KillWorld, life: Life): Promise<void> {
  const [unknown] = world.query<{ task_id: string }>(
    "select task_id from research_tasks where status = 'start_unknown' order by random() limit 1",
  );
  if (unknown === undefined) return;
  const { task_id } = unknown;
  const found = world.gemini.ledger.acceptedStarts().find(({ labels }) => labels["run"] === task_id);
  world.resumed.add(task_id);
  await life.call("resume_research", {
    task_id,
    ...(found !== undefined && world.random() < 0.7
      ? { interaction_id: found.id }
      : { accept_possible_double_charge: true }),
  });
}

/** Somebody collects what is left, and leaves when there is nothing more. */
export async function drain(world: KillWorld): Promise<void> {
  const worker = world.begin({ args: ["worker", "--until-idle"] });
  const timer = setTimeout(worker.kill, 60_000);
  const { code } = await worker.ended;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`The last worker did not become idle: ${worker.stderr()}`);
}
