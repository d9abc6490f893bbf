/**
 * Plays one random history per seed: processes start, work, are suspended and die; users start, cancel and resume runs;
 * Google fails.
 */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGoogle } from "./google.ts";
import { createUser } from "../kit/judge/decisions.ts";
import { cancels, decidesOnPlan, resumes, starts, startsWithPlan } from "./user.ts";
import { judge } from "./judge.ts";
import { startProcess, type SimulatedProcess, type World } from "./process.ts";
import { openSharedDatabase } from "./shared-database.ts";
import { type Chance, createChance, createTime } from "./virtual-time.ts";

export interface History {
  broken: string[];
  /** The events of the history in order, for debugging. */
  trace: string[];
  paid: number;
  completed: number;
  /** How often what the judge looks for was possible. */
  cases: Cases;
}

interface Cases {
  approvals: number;
  /** Runs of a second interaction, which a late first answer brings. */
  secondRuns: number;
  /** Cancels of a run that Google was working on. */
  cancels: number;
}

export interface Simulation {
  /** `plans`: the user asks for plans, changes and approves them, too. */
  play(seed: number, options?: { plans: boolean }): Promise<History>;
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
    play: async (seed, { plans } = { plans: false }) => {
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
        user: createUser(() =>
          google.ledger.map(({ id, isPlan }) => ({ id, isPlan, status: google.statusOf(id) ?? "missing" })),
        ),
        returned: new Set(),
        plans,
      };
      const trace: string[] = [];
      const restore = seedGlobals(chance);
      try {
        const ended = await time.pass(playHistory(world, trace), MAX_HISTORY_MS);
        const broken = ended ? judge(world) : ["the runner did not become idle", ...judge(world)];
        const [row] = database.all<{ n: number }>(
          "select count(*) as n from research_tasks where status = 'completed'",
        );
        return { broken, trace, paid: google.ledger.length, completed: row?.n ?? 0, cases: casesOf(world) };
      } finally {
        restore();
      }
    },
  };
}

function casesOf({ google, database, user }: World): Cases {
  return {
    approvals: google.ledger.filter(({ isPlan, subject }) => !isPlan && subject.startsWith("plan ")).length,
    secondRuns: database.all("select 1 from research_tasks where parent_task_id is not null").length,
    cancels: user.cancels.filter(({ seen }) => seen.some(({ status }) => status === "working")).length,
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

async function playHistory(world: World, trace: string[]): Promise<void> {
  const { time, chance } = world;
  const instances: SimulatedProcess[] = [begin(world, trace)];
  if (world.plans && chance.is(0.3)) instances.push(await answersLate(world, trace));
  for (let step = 0; step < STEPS; step += 1) {
    // A plan takes longer than most other steps, and can be decided on only afterwards.
    await time.sleep(chance.upTo(chance.is(world.plans ? 0.3 : 0.1) ? 60_000 : 3_000));
    const here = instances.filter((instance) => instance.alive());
    const instance = chance.pick(here);
    if (instance === undefined || (here.length < 4 && chance.is(0.15))) instances.push(begin(world, trace));
    else act(world, { instance, here }, trace);
  }
  await finishAll(world, instances, trace);
}

/** Longer than the lease of a start: another process then reports it as unknown. */
const ASLEEP_MS = 160_000;

/** A process is suspended during a start, the user sends it again elsewhere, and the first response arrives after all. */
async function answersLate(world: World, trace: string[]): Promise<SimulatedProcess> {
  const { time, chance } = world;
  const [asleep, awake] = [begin(world, trace), begin(world, trace)];
  const window = (instance: SimulatedProcess) => ({
    world,
    instance,
    other: instance,
    record: (what: string) => void trace.push(`${time.now()} ${instance.processId} ${what}`),
  });
  starts(window(asleep));
  await time.sleep(chance.upTo(5_000));
  window(asleep).record(`is stopped for ${ASLEEP_MS} ms`);
  asleep.stop(ASLEEP_MS);
  await time.sleep(ASLEEP_MS - chance.upTo(5_000));
  resumes(window(awake), 0);
  await time.sleep(chance.upTo(20_000));
  window(asleep).record("is killed");
  asleep.kill();
  return awake;
}

function begin(world: World, trace: string[]): SimulatedProcess {
  const machine = world.chance.upTo(world.skew.length);
  const instance = startProcess(world, machine);
  trace.push(`${world.time.now()} ${instance.processId} starts on machine ${machine}`);
  return instance;
}

/** Takes one random action. Calls are not awaited: their process may die before they return. */
function act(
  world: World,
  { instance, here }: { instance: SimulatedProcess; here: SimulatedProcess[] },
  trace: string[],
): void {
  const { time, chance } = world;
  const record = (what: string): void => void trace.push(`${time.now()} ${instance.processId} ${what}`);
  const window = { world, instance, other: instance, record };
  if (world.plans && chance.is(0.4)) {
    const twin = { ...window, other: chance.pick(here) ?? instance };
    if (!decidesOnPlan(twin)) startsWithPlan(twin);
    return;
  }
  const draw = chance.next();
  if (draw < 0.4) {
    starts(window);
  } else if (draw < 0.5) {
    cancels(window);
  } else if (draw < 0.58) {
    resumes(window);
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
