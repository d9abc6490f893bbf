/**
 * One simulated process of the product with its own database client, agent and clock, which can be killed, suspended
 * and shut down.
 */

import { hostname } from "node:os";
import { createOutboxSender } from "../../src/notifications/outbox.ts";
import { liveness, thisProcess } from "../../src/platform/process-identity.ts";
import { cancelRun } from "../../src/runs/cancel/cancel.ts";
import type { ResearchDeps } from "../../src/runs/deps.ts";
import { decideOnPlan } from "../../src/runs/plan/decide.ts";
import { resumeAgentRun } from "../../src/runs/start/resume.ts";
import { createRunner, type Runner } from "../../src/runs/scheduling/runner.ts";
import { type Started, startResearch } from "../../src/runs/start/start.ts";
import type { Database } from "../../src/store/database.ts";
import { registerProcess } from "../../src/store/processes.ts";
import type { Google } from "./google.ts";
import type { Client, SharedDatabase } from "./shared-database.ts";
import type { Chance, VirtualTime } from "./virtual-time.ts";
import { silentLog as log } from "../kit/log.ts";
import type { User } from "../kit/judge/decisions.ts";
import { commonDeps, trackWork } from "../kit/store/research-deps.ts";

export interface World {
  time: VirtualTime;
  chance: Chance;
  google: Google;
  database: SharedDatabase;
  stateDir: string;
  /** The offsets of the machines' clocks from virtual time, and the minimum and maximum of all offsets so far. */
  skew: number[];
  skewSeen: { min: number; max: number };
  /** For each process, a function that returns how long it has been running, not suspended, since a given time. */
  ranSince: Map<string, (from: number) => number>;
  /** One line per shown notification. */
  shown: string[];
  backups: Map<string, string>;
  calm: boolean;
  user: User;
  /** Ids of runs that the user received. */
  returned: Set<string>;
  /** Whether the user asks for plans, too. */
  plans: boolean;
}

export interface SimulatedProcess {
  processId: string;
  alive(): boolean;
  kill(): void;
  /** Shuts down as when a client closes the server: 2.5 s remain for work that must not be lost. */
  shutDown(): Promise<void>;
  /** SIGSTOP, and SIGCONT after this time. */
  stop(ms: number): void;
  fillDisk(ms: number): void;
  runner: Runner;
  start(query: string, options?: { plan: boolean }): Promise<Started>;
  /** Changes or approves this plan. */
  decide(taskId: string, edit: string | undefined): Promise<unknown>;
  cancel(taskId: string, keepPartial: boolean): Promise<unknown>;
  /** Adopts an interaction, or sends this unknown start again. */
  resume(taskId: string, interactionId: string | undefined): Promise<unknown>;
}

/** An arbitrary time at which all histories begin. */
const EPOCH_MS = Date.UTC(2026, 0, 1);
const WAIT_MS = 8 * 3_600_000;
/** A pid that no process has. */
const DEAD_PID = 2 ** 30;
/** A new promise each time, because waiters on a shared one would never be garbage collected. */
const never = (): Promise<never> => new Promise(() => {});

let started = 0;

export function startProcess(world: World, machine: number): SimulatedProcess {
  const { time, chance, google, database } = world;
  let killed = false;
  let stoppedUntil = 0;
  let diskFullUntil = 0;
  const stops: { from: number; to: number }[] = [];
  let diedAt: number | undefined;
  const leaving = new AbortController();
  const { working, during } = trackWork();
  const pass = async (): Promise<void> => {
    // Other processes may act between any two steps of a process.
    if (!world.calm && chance.is(0.3)) await time.sleep(chance.upTo(200));
    while (stoppedUntil > time.now()) await time.sleep(stoppedUntil - time.now());
    if (killed) await never();
  };
  const client: Client = { pass, killed: () => killed, refuses: () => diskFullUntil > time.now() };
  const clock = {
    now: () => EPOCH_MS + time.now() + (world.skew[machine] ?? 0),
    monotonic: () => time.now(),
    sleep: async (ms: number, signal?: AbortSignal) => {
      await time.sleep(ms, signal);
      await pass();
    },
  };
  const db = database.open(client);
  const processId = `process-${(started += 1)}`;
  // All simulated machines but the first are remote: only leases show whether their processes are alive.
  const host = machine === 0 ? hostname() : `machine-${machine}`;
  const deps: ResearchDeps = {
    ...commonDeps({ db, processId, clock, log, leaving: leaving.signal }),
    agent: google.agentFor({ processId, pass }),
    stateDir: world.stateDir,
    during,
    backUp: async ({ taskId }, report) => {
      await pass();
      if (diskFullUntil > time.now() && chance.is(0.5)) return undefined;
      world.backups.set(taskId, report);
      return `${taskId}.md`;
    },
    notify: async () => {},
  };
  const sender = createOutboxSender({
    db,
    processId,
    clock,
    log,
    notify: async ({ title, body }) => {
      await pass();
      world.shown.push(`${title} ${body.slice(0, 8)}`);
      await pass();
    },
    signal: leaving.signal,
  });
  const runner = createRunner({ deps, pollIntervalMs: 10_000, maxRps: 5, deliver: sender.deliverPending });
  void register(db, { processId, host, now: clock.now() })
    .catch(() => undefined)
    .then(() => runner.start());
  world.ranSince.set(processId, (from) => {
    const end = diedAt ?? time.now();
    const stopped = stops.map((stop) => Math.max(0, Math.min(end, stop.to) - Math.max(from, stop.from)));
    return end - from - stopped.reduce((sum, ms) => sum + ms, 0);
  });
  const kill = (): void => {
    killed = true;
    diedAt ??= time.now();
    database.drop(client);
    database.all("update processes set pid = ? where process_id = ?", DEAD_PID, processId);
  };
  return {
    processId,
    alive: () => !killed && !leaving.signal.aborted,
    kill,
    shutDown: async () => {
      leaving.abort();
      await Promise.race([time.sleep(2_500), Promise.allSettled(working)]);
      kill();
      database.all("delete from processes where process_id = ?", processId);
    },
    stop: (ms) => {
      stoppedUntil = time.now() + ms;
      stops.push({ from: time.now(), to: stoppedUntil });
    },
    fillDisk: (ms) => void (diskFullUntil = time.now() + ms),
    runner,
    start: (query, { plan = false } = { plan: false }) =>
      startResearch(deps, { ...requestFor(query), ...(plan && { variant: { collaborativePlanning: true } }) }),
    decide: (taskId, edit) =>
      decideOnPlan(deps, {
        owner: "local",
        taskId,
        edit,
        plan: taskId,
        estimate: {},
        callerWaitsMs: 0,
        checkCost: () => true,
        signal: leaving.signal,
      }),
    cancel: (taskId, keepPartial) =>
      cancelRun({ db, clock, agent: deps.agent, pollNow: runner.pollNow }, { owner: "local", taskId, keepPartial }),
    resume: (taskId, interactionId) => {
      const acceptDoubleCharge = interactionId === undefined;
      return resumeAgentRun(deps, { owner: "local", taskId, interactionId, acceptDoubleCharge, newest: taskId });
    },
  };
}

const requestFor = (query: string) => ({
  owner: "local",
  client: "simulation",
  query,
  agent: "deep-research-preview-04-2026",
  enableNotifications: true,
  maxWaitMs: WAIT_MS,
  forceNew: false,
  estimate: {},
});

const self = thisProcess();

/** Registers the process with the pid of the test process, so that it counts as alive. */
async function register(db: Database, { processId, host, now }: { processId: string; host: string; now: number }) {
  await registerProcess(db, { processId, host, pid: self.pid, startMark: self.startMark }, now);
  if (liveness(self) !== "alive") throw new Error("This machine cannot tell whether a process instances.");
}
