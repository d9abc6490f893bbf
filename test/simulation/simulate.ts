/**
 * Plays one random history per seed: processes start, work, are suspended and die; users start, cancel and resume runs;
 * Google fails.
 */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGoogle } from "./google.ts";
import { type UserActions, judge } from "./judge.ts";
import { startProcess, type SimulatedProcess, type World } from "./process.ts";
import { openSharedDatabase } from "./shared-database.ts";
import { type Chance, createChance, createTime } from "./virtual-time.ts";

export interface History {
  broken: string[];
  /** The events of the history in order, for debugging. */
  trace: string[];
  paid: number;
  completed: number;
}

export interface Simulation {
  play(seed: number): Promise<History>;
  close(): void;
}

/** Enough for several processes to interact; more seeds find more than longer histories. */
const STEPS = 16;
const HOUR = 3_600_000;
/** Four times the longest history with its longest research. */
const MAX_HISTORY_MS = HOUR;

/** `losing`: the database acknowledges matching writes without executing them, to test the judge. */
export async function openSimulation({ losing }: { losing?: RegExp } = {}): Promise<Simulation> {
  const database = await openSharedDatabase(losing);
  const stateDir = mkdtempSync(join(tmpdir(), "gemini-search-simulation-"));
  return {
    close: () => rmSync(stateDir, { recursive: true, force: true }),
    play: async (seed) => {
      database.clear();
      for (const name of readdirSync(stateDir)) rmSync(join(stateDir, name));
      const chance = createChance(seed);
      const time = createTime();
      const machines = chance.is(0.5) ? 1 : 3;
      const google = createGoogle(time, chance);
      const skew = Array.from({ length: machines }, () => 0);
      const world: World = {
        time,
        chance,
        google,
        database,
        stateDir,
        skew,
        skewSeen: { min: 0, max: 0 },
        ranSince: new Map(),
        shown: [],
        backups: new Map(),
        calm: false,
      };
      const trace: string[] = [];
      const actions: UserActions = { returned: new Set(), resumed: new Set() };
      const restore = seedGlobals(chance);
      try {
        const ended = await time.pass(playHistory(world, actions, trace), MAX_HISTORY_MS);
        const broken = ended ? judge(world, actions) : ["the runner did not become idle", ...judge(world, actions)];
        const [row] = database.all<{ n: number }>(
          "select count(*) as n from research_tasks where status = 'completed'",
        );
        return { broken, trace, paid: google.ledger.length, completed: row?.n ?? 0 };
      } finally {
        restore();
      }
    },
  };
}

/** Seeds the product's own randomness: jitter and ids. */
function seedGlobals(chance: Chance): () => void {
  const { random } = Math;
  const { randomUUID } = crypto;
  const digits = (count: number): string => Array.from({ length: count }, () => chance.upTo(16).toString(16)).join("");
  Math.random = chance.next;
  crypto.randomUUID = () => `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`;
  return () => {
    Math.random = random;
    crypto.randomUUID = randomUUID;
  };
}

async function playHistory(world: World, actions: UserActions, trace: string[]): Promise<void> {
  const { time, chance } = world;
  const instances: SimulatedProcess[] = [begin(world, trace)];
  for (let step = 0; step < STEPS; step += 1) {
    await time.sleep(chance.upTo(chance.is(0.1) ? 60_000 : 3_000));
    const here = instances.filter((instance) => instance.alive());
    const instance = chance.pick(here);
    if (instance === undefined || (here.length < 4 && chance.is(0.15))) instances.push(begin(world, trace));
    else act(world, instance, { actions, trace });
  }
  await finishAll(world, instances, trace);
}

function begin(world: World, trace: string[]): SimulatedProcess {
  const machine = world.chance.upTo(world.skew.length);
  const instance = startProcess(world, machine);
  trace.push(`${world.time.now()} ${instance.processId} starts on machine ${machine}`);
  return instance;
}

interface Notes {
  actions: UserActions;
  trace: string[];
}

/** Takes one random action. Calls are not awaited: their process may die before they return. */
function act(world: World, instance: SimulatedProcess, { actions, trace }: Notes): void {
  const { time, chance, database, google } = world;
  const record = (what: string): void => void trace.push(`${time.now()} ${instance.processId} ${what}`);
  const anyRun = (where: string): string | undefined =>
    chance.pick(database.all<{ task_id: string }>(`select task_id from research_tasks ${where} order by rowid`))
      ?.task_id;
  const draw = chance.next();
  if (draw < 0.4) {
    const query = `question ${chance.is(0.3) ? "of all" : chance.upTo(1_000)}`;
    record(`starts ${query}`);
    instance.start(query).then(
      ({ taskId }) => actions.returned.add(taskId),
      () => undefined,
    );
  } else if (draw < 0.5) {
    const taskId = anyRun("");
    if (taskId === undefined) return;
    record(`cancels ${taskId}`);
    instance.cancel(taskId, chance.is(0.5)).catch(() => undefined);
  } else if (draw < 0.58) {
    const taskId = anyRun("where status in ('start_unknown', 'failed')");
    if (taskId === undefined) return;
    const found = google.ledger.find(({ run }) => run === taskId);
    const id = chance.is(0.6) ? found?.id : undefined;
    actions.resumed.add(taskId);
    record(`resumes ${taskId} with ${id}`);
    instance.resume(taskId, id).catch(() => undefined);
  } else if (draw < 0.72) {
    record("is killed");
    instance.kill();
  } else if (draw < 0.78) {
    record("shuts down");
    void instance.shutDown();
  } else if (draw < 0.86) {
    // Sometimes longer than a lease.
    const ms = chance.upTo(90_000);
    record(`is stopped for ${ms} ms`);
    instance.stop(ms);
  } else if (draw < 0.92) {
    const ms = chance.upTo(30_000);
    record(`has no disk for ${ms} ms`);
    instance.fillDisk(ms);
  } else {
    jump(world, trace);
  }
}

const JUMPS = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR, 5 * 60_000, -5 * 60_000];

/** A clock that is set, or a laptop that was suspended. */
function jump({ chance, skew, skewSeen, time }: World, trace: string[]): void {
  const machine = chance.upTo(skew.length);
  const by = chance.pick(JUMPS) ?? 0;
  const now = (skew[machine] ?? 0) + by;
  skew[machine] = now;
  skewSeen.min = Math.min(skewSeen.min, now);
  skewSeen.max = Math.max(skewSeen.max, now);
  trace.push(`${time.now()} the clock of machine ${machine} jumps by ${by} ms`);
}

/** Ends all faults, corrects the clocks, and lets one healthy process finish all runs. */
async function finishAll(world: World, instances: SimulatedProcess[], trace: string[]): Promise<void> {
  const { time, google } = world;
  world.calm = true;
  google.heal();
  world.skew.fill(0);
  for (const instance of instances) if (instance.alive()) instance.kill();
  const last = startProcess(world, 0);
  trace.push(`${time.now()} ${last.processId} finishes all runs`);
  do await time.sleep(10_000);
  while (!(await last.runner.idle()));
  await last.shutDown();
}
