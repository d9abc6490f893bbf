/** Plays one cell of the fault matrix with the real adapter, the real run code and a real database. */

import { LIMITS, createInteractionsAgent } from "../../src/gemini/interactions/agent.ts";
import { cancelResearch } from "../../src/operations/cancel-research.ts";
import { checkResearchStatus } from "../../src/operations/check-research-status.ts";
import type { Call, Operation, OperationDeps } from "../../src/operations/operation.ts";
import { perform } from "../../src/operations/perform.ts";
import { isRecord } from "../../src/platform/is-record.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import type { ResearchDeps } from "../../src/runs/deps.ts";
import { findResult } from "../../src/runs/result-store.ts";
import { isFinished, type Run } from "../../src/runs/run.ts";
import { currentOf } from "../../src/runs/conversation-store.ts";
import { createRunner, type Runner } from "../../src/runs/scheduling/runner.ts";
import { startResearch } from "../../src/runs/start/start.ts";
import { startSimulator, type Simulator } from "../../simulator/server.ts";
import { clock, openRunner, request } from "../kit/store/runner.ts";
import type { FaultRow, FaultyRequest } from "./fault-cells.ts";
import { type FaultyConnection, openFaultyConnection, scenarioOf } from "./faulty-connection.ts";
import { createTestLog } from "../kit/log.ts";
import { openApp } from "../kit/store/operation-deps.ts";

/** The test clock runs this much faster than the system clock. */
const CLOCK_SPEED = 50;
/** A gzip bomb is detected at any limit, so a small one is used. */
const SMALL = { ...LIMITS, responseBytes: 4 * 1024 * 1024 };
/** For silent faults, the limit that ends them is accelerated like the clock; all others keep their time. */
const QUICK_LIMITS = {
  create: { ...SMALL, startMs: 500 },
  get: { ...SMALL, pollMs: LIMITS.pollMs / CLOCK_SPEED },
  cancel: { ...SMALL, cancelMs: LIMITS.cancelMs / CLOCK_SPEED },
  stream: { ...SMALL, streamMs: 500 },
};
/** For cancels that Google confirms, time runs slowly, so that no timeout precedes the confirmation. */
const slowClock: Clock = {
  now: () => BEGAN + (Date.now() - BEGAN) / 10,
  monotonic: () => (Date.now() - BEGAN) / 10,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 50), signal),
};
const BEGAN = Date.now();
/** The duration of a simulated research. */
export const WHOLE_MS = 8 * 60_000;
const MAX_WAIT_MS = 120_000;
const OWNER = "local";

export interface Setting {
  /** The latency of every response of Google. */
  latencyMs?: number;
}

/** A run with a faulty connection to Google. */
export interface Scene {
  connection: FaultyConnection;
  gemini: Simulator;
  research: ResearchDeps;
  runner: Runner;
  taskId: string;
  /** Log lines that users can see. */
  logged: string[];
  /** The number of rounds of the runner. */
  rounds(): number;
  run(): Promise<Run>;
  report(): Promise<string>;
  status(): Promise<{ status: string; sentence: string; code: string | undefined }>;
  cancel(): Promise<{ status: string; sentence: string; confirmed: boolean }>;
  /** Ends the fault. */
  heal(): void;
  /** Starts another run, which is not counted as a start of this one. */
  startAnother(): Promise<void>;
  posts(): number;
  taken(): number;
}

export async function withScene<Result>(
  { row, at, latencyMs = 0 }: Setting & { row: FaultRow; at: FaultyRequest },
  act: (scene: Scene) => Promise<Result>,
): Promise<Result> {
  const closing: (() => Promise<void>)[] = [];
  const connection = await openFaultyConnection(row.cause, at);
  const scenario = { name: "faults", latency_ms: latencyMs };
  const gemini = await startSimulator({ scenario: { ...scenario, interactions: scenarioOf(row.cause, at) } });
  const stage = await openRunner({ onTestFinished: (close) => void closing.push(close) });
  try {
    const logged: string[] = [];
    const log = createTestLog((line) => logged.push(line), "INFO");
    const limits = row.cause.kind === "silence" ? QUICK_LIMITS[at] : SMALL;
    const google = { apiKey: "fault-key-777", vertex: false, baseUrl: gemini.url };
    const agent = createInteractionsAgent({
      ...google,
      log,
      limits,
      fetch: connection.fetch,
      sendOnce: connection.sendOnce,
    });
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
    // Google's own count includes requests that are sent below our call.
    const arrived = (): number =>
      gemini.ledger.entries().filter(({ method, path }) => method === "POST" && path.endsWith("/interactions")).length;
    const counts = {
      startAnother,
      posts: () => Math.max(connection.sent.create, arrived()) - others,
      taken: () => gemini.ledger.acceptedStarts().filter(({ labels }) => labels["run"] === taskId).length,
    };
    const heal = (): void => {
      connection.heal();
      gemini.setScenario({ ...scenario, interactions: {} });
    };
    const isDone = row.expected[at].confirmed === true;
    const deps = operationDeps(research, runner, isDone ? slowClock : clock);
    const stored = {
      run: () => currentOf(research.db, OWNER, taskId),
      rounds: () => rounds,
      ...operationsOf(deps, taskId),
    };
    const report = async (): Promise<string> => (await findResult(research.db, taskId))?.report ?? "";
    return await act({ connection, gemini, research, runner, taskId, logged, report, heal, ...counts, ...stored });
  } finally {
    for (const close of closing) await close();
    await gemini.close();
    connection.close();
  }
}

/** The operations as users call them. */
function operationsOf(deps: OperationDeps, taskId: string): Pick<Scene, "status" | "cancel"> {
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
  return {
    ...openApp().deps,
    clock: time,
    log,
    leaving,
    database: async () => db,
    notifications: async () => undefined,
    agent: async () => agent,
    research: async () => ({ research, runner, obstacle: async () => undefined }),
    findRun: (owner, taskId) => currentOf(db, owner, taskId),
    backupOf: () => undefined,
  };
}

/** Waits until a value is found; throws after a timeout. */
export async function until<Value>(
  what: string,
  read: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  const deadline = Date.now() + MAX_WAIT_MS;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`Timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const untilFinished = ({ run }: Pick<Scene, "run">): Promise<Run> =>
  until("the run ends", async () => {
    const now = await run();
    return isFinished(now.status) && now;
  });
