/**
 * Plays one random history per seed: processes start, work, are suspended and die; users start, cancel and resume runs;
 * Google fails.
 */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGoogle } from "./google.ts";
import { type Deeds, judge } from "./judge.ts";
import { beginLife, type Life, type World } from "./life.ts";
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
const LONGEST_MS = HOUR;

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
        skewSeen: { least: 0, most: 0 },
        ranSince: new Map(),
        shown: [],
        backups: new Map(),
        calm: false,
      };
      const trace: string[] = [];
      const deeds: Deeds = { returned: new Set(), resumed: new Set() };
      const restore = seedGlobals(chance);
      try {
        const ended = await time.pass(story(world, deeds, trace), LONGEST_MS);
        const broken = ended ? judge(world, deeds) : ["it never came to rest", ...judge(world, deeds)];
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

async function story(world: World, deeds: Deeds, trace: string[]): Promise<void> {
  const { time, chance } = world;
  const lives: Life[] = [begin(world, trace)];
  for (let step = 0; step < STEPS; step += 1) {
    await time.sleep(chance.upTo(chance.is(0.1) ? 60_000 : 3_000));
    const here = lives.filter((life) => life.alive());
    const life = chance.pick(here);
    if (life === undefined || (here.length < 4 && chance.is(0.15))) lives.push(begin(world, trace));
    else act(world, life, { deeds, trace });
  }
  await rest(world, lives, trace);
}

function begin(world: World, trace: string[]): Life {
  const machine = world.chance.upTo(world.skew.length);
  const life = beginLife(world, machine);
  trace.push(`${world.time.now()} ${life.processId} begins on machine ${machine}`);
  return life;
}

interface Notes {
  deeds: Deeds;
  trace: string[];
}

/** Takes one random action. Calls are not awaited: their process may die before they return. */
function act(world: World, life: Life, { deeds, trace }: Notes): void {
  const { time, chance, database, google } = world;
  const say = (what: string): void => void trace.push(`${time.now()} ${life.processId} ${what}`);
  const anyRun = (where: string): string | undefined =>
    chance.pick(database.all<{ task_id: string }>(`select task_id from research_tasks ${where} order by rowid`))
      ?.task_id;
  const dice = chance.next();
  if (dice < 0.4) {
    const query = `question ${chance.is(0.3) ? "of everybody" : chance.upTo(1_000)}`;
    say(`starts ${query}`);
    life.start(query).then(
      ({ taskId }) => deeds.returned.add(taskId),
      () => undefined,
    );
  } else if (dice < 0.5) {
    const taskId = anyRun("");
    if (taskId === undefined) return;
    say(`cancels ${taskId}`);
    life.cancel(taskId, chance.is(0.5)).catch(() => undefined);
  } else if (dice < 0.58) {
    const taskId = anyRun("where status in ('start_unknown', 'failed')");
    if (taskId === undefined) return;
    const found = google.ledger.find(({ run }) => run === taskId);
    const id = chance.is(0.6) ? found?.id : undefined;
    deeds.resumed.add(taskId);
    say(`resumes ${taskId} with ${id}`);
    life.resume(taskId, id).catch(() => undefined);
  } else if (dice < 0.72) {
    say("is killed");
    life.kill();
  } else if (dice < 0.78) {
    say("leaves");
    void life.leave();
  } else if (dice < 0.86) {
    // Sometimes longer than a lease.
    const ms = chance.upTo(90_000);
    say(`is stopped for ${ms} ms`);
    life.stop(ms);
  } else if (dice < 0.92) {
    const ms = chance.upTo(30_000);
    say(`has no disk for ${ms} ms`);
    life.fillDisk(ms);
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
  skewSeen.least = Math.min(skewSeen.least, now);
  skewSeen.most = Math.max(skewSeen.most, now);
  trace.push(`${time.now()} the clock of machine ${machine} jumps by ${by} ms`);
}

/** Ends all faults, corrects the clocks, and lets one healthy process finish all runs. */
async function rest(world: World, lives: Life[], trace: string[]): Promise<void> {
  const { time, google } = world;
  world.calm = true;
  google.heal();
  world.skew.fill(0);
  for (const life of lives) if (life.alive()) life.kill();
  const last = beginLife(world, 0);
  trace.push(`${time.now()} ${last.processId} collects`);
  do await time.sleep(10_000);
  while (!(await last.runner.idle()));
  await last.leave();
}
