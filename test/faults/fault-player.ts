/** Plays one cell of the fault matrix on the real adapter, the real runs and a real database, and says what came of it. */

import { LIMITS, createInteractionsAgent } from "../../src/gemini/interactions/agent.ts";
import { cancelResearch } from "../../src/operations/cancel-research.ts";
import { checkResearchStatus } from "../../src/operations/check-research-status.ts";
import type { Call, Operation, OperationDeps } from "../../src/operations/operation.ts";
import { perform } from "../../src/operations/perform.ts";
import { isRecord } from "../../src/platform/is-record.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { createLog } from "../../src/platform/log.ts";
import type { ResearchDeps } from "../../src/runs/deps.ts";
import { findResult } from "../../src/runs/result-store.ts";
import { isFinished, type Run } from "../../src/runs/run.ts";
import { findRun } from "../../src/runs/run-store.ts";
import { createRunner, type Runner } from "../../src/runs/scheduling/runner.ts";
import { startResearch } from "../../src/runs/start/start.ts";
import { startSimulator, type Simulator } from "../../simulator/server.ts";
import { clock, openStage, request } from "../support/research-deps.ts";
import type { FaultRow, FaultyRequest } from "./fault-cells.ts";
import { type FaultyWay, openFaultyWay, scenarioOf } from "./faulty-way.ts";

/** The clock of the stage runs this much faster than ours. */
const CLOCK_SPEED = 50;
/** A bomb is one at any size. */
const SMALL = { ...LIMITS, responseBytes: 4 * 1024 * 1024 };
/** Where silence is the fault, the limit that ends it runs at about the speed of the clock; all others have their time. */
const QUICK_LIMITS = {
  create: { ...SMALL, startMs: 500 },
  get: { ...SMALL, pollMs: LIMITS.pollMs / CLOCK_SPEED },
  cancel: { ...SMALL, cancelMs: LIMITS.cancelMs / CLOCK_SPEED },
  stream: { ...SMALL, streamMs: 500 },
};
/** Where Google does what it is asked, nobody's hurry may come before its word. */
const patientClock: Clock = {
  now: () => BEGAN + (Date.now() - BEGAN) / 10,
  monotonic: () => (Date.now() - BEGAN) / 10,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 50), signal),
};
const BEGAN = Date.now();
/** As long as a simulated research takes. */
export const WHOLE_MS = 8 * 60_000;
const PATIENCE_MS = 40_000;
const OWNER = "local";

export interface Setting {
  /** Every answer of Google takes this long. */
  latencyMs?: number;
}

/** A run on its faulty way. */
export interface Scene {
  way: FaultyWay;
  gemini: Simulator;
  research: ResearchDeps;
  runner: Runner;
  taskId: string;
  /** Everything that was logged for users. */
  logged: string[];
  /** How often the runner has gone round. */
  rounds(): number;
  run(): Promise<Run>;
  report(): Promise<string>;
  status(): Promise<{ status: string; sentence: string; code: string | undefined }>;
  cancel(): Promise<{ status: string; sentence: string; confirmed: boolean }>;
  /** The fault is over. */
  heal(): void;
  /** A run beside this one, not counted as one of its starts. */
  startAnother(): Promise<void>;
  posts(): number;
  taken(): number;
}

export async function withScene<Result>(
  { row, at, latencyMs = 0 }: Setting & { row: FaultRow; at: FaultyRequest },
  act: (scene: Scene) => Promise<Result>,
): Promise<Result> {
  const closing: (() => Promise<void>)[] = [];
  const way = await openFaultyWay(row.cause, at);
  const scenario = { name: "faults", latency_ms: latencyMs };
  const gemini = await startSimulator({ scenario: { ...scenario, interactions: scenarioOf(row.cause, at) } });
  const stage = await openStage({ onTestFinished: (close) => void closing.push(close) });
  try {
    const logged: string[] = [];
    const log = createLog({
      from: "INFO",
      format: "text",
      redact: (text) => text,
      write: (line) => void logged.push(line),
    });
    const limits = row.cause.kind === "silence" ? QUICK_LIMITS[at] : SMALL;
    const google = { apiKey: "fault-key-777", vertex: false, baseUrl: gemini.url };
    const agent = createInteractionsAgent({ ...google, log, limits, fetch: way.fetch, sendOnce: way.sendOnce });
    const research = { ...stage.deps(agent), log };
    let rounds = 0;
    const deliver = async (): Promise<void> => void (rounds += 1);
    const runner = createRunner({ deps: research, pollIntervalMs: 100, maxRps: 50, deliver });
    const start = async (query: string): Promise<string> => {
      const started = await startResearch(research, { ...request, query });
      if (started.kind === "started") await started.sending;
      return started.taskId;
    };
    const taskId = await start(request.query);
    let others = 0;
    const startAnother = async (): Promise<void> => {
      others += 1;
      await start(`${request.query} Also question ${others}.`);
    };
    // Also as Google counts them: what happens below our own call is seen only there.
    const arrived = (): number =>
      gemini.ledger.entries().filter(({ method, path }) => method === "POST" && path.endsWith("/interactions")).length;
    const counts = {
      startAnother,
      posts: () => Math.max(way.sent.create, arrived()) - others,
      taken: () => gemini.ledger.acceptedStarts().filter(({ labels }) => labels["run"] === taskId).length,
    };
    const heal = (): void => {
      way.heal();
      gemini.setScenario({ ...scenario, interactions: {} });
    };
    const isDone = row.expected[at].confirmed === true;
    const deps = operationDeps(research, runner, isDone ? patientClock : clock);
    const stored = { run: () => findRun(research.db, OWNER, taskId), rounds: () => rounds, ...doors(deps, taskId) };
    const report = async (): Promise<string> => (await findResult(research.db, taskId))?.report ?? "";
    return await act({ way, gemini, research, runner, taskId, logged, report, heal, ...counts, ...stored });
  } finally {
    for (const close of closing) await close();
    await gemini.close();
    way.close();
  }
}

/** The operations as their users see them. */
function doors(deps: OperationDeps, taskId: string): Pick<Scene, "status" | "cancel"> {
  const answer = async (operation: Operation): Promise<Record<string, unknown>> =>
    (await perform(operation, deps, { input: { task_id: taskId }, call: CALL })).structured;
  return {
    status: async () => {
      const { status, current_action, error } = await answer(checkResearchStatus);
      const { message, code } = isRecord(error) ? error : { message: current_action };
      return { status: String(status), sentence: String(message), code: code === undefined ? undefined : String(code) };
    },
    cancel: async () => {
      const { status, message, confirmed } = await answer(cancelResearch);
      return { status: String(status), sentence: String(message), confirmed: confirmed === true };
    },
  };
}

const CALL: Call = {
  owner: OWNER,
  client: undefined,
  from: "here",
  signal: new AbortController().signal,
  progress: () => {},
};

function operationDeps(research: ResearchDeps, runner: Runner, time: Clock): OperationDeps {
  const { db, agent, log, leaving } = research;
  const unused = (): never => {
    throw new Error("No cell needs this.");
  };
  return {
    clock: time,
    log,
    leaving,
    database: async () => db,
    notifications: async () => undefined,
    agent: async () => agent,
    research: async () => ({ research, runner, durable: true }),
    findRun: (owner, taskId) => findRun(db, owner, taskId),
    backupOf: () => undefined,
    recorder: unused,
    search: unused,
    searchObstacle: unused,
    estimate: unused,
    inBackground: unused,
    settings: {
      maxRounds: 1,
      legacyPrompt: undefined,
      syncWindowMs: 0,
      taskAfterMs: 0,
      reportsDir: undefined,
      templatesDir: undefined,
      inlineCharacters: 100_000,
      confirmAboveUsd: 0,
    },
  };
}

/** Waits for what must come; time is only for giving up. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > giveUpAt) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const untilFinished = ({ run }: Pick<Scene, "run">): Promise<Run> =>
  until("the run ends", async () => {
    const now = await run();
    return isFinished(now.status) && now;
  });
