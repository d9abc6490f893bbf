/**
 * Runs of seven minutes for clients with a timeout of sixty seconds: how the result arrives, by transport and protocol
 * era.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { ScenarioInput } from "../../simulator/scenario.ts";
import type { Simulator } from "../../simulator/server.ts";
import {
  byPolling,
  byTimingOut,
  byDisconnecting,
  byProgress,
  byResuming,
  byTask,
  type Delivery,
  type LongRun,
  type Peer,
  type Request,
} from "../../test/kit/server/delivery.ts";
import { openHttpScene } from "../../test/kit/server/http-server.ts";
import type { Era } from "../../test/kit/server/server.ts";
import type { Experiment, Finding, LabSetting } from "../experiment.ts";
import { worst } from "../spread.ts";

const RUN_MS = 7 * 60_000;
/** The default timeout of the official client; it does not shrink with the scale. */
const TIMEOUT_MS = 60_000;
const WAIT_SECONDS = 45;
/** A deep search has one finished round when its client times out. */
const FIRST_ROUND_MS = 40_000;
const MAX_SILENCE_MS = 15_000;

const TRANSPORTS: readonly Peer["transport"][] = ["stdio", "HTTP"];
const ERAS: readonly Era[] = ["legacy", "modern"];

const METHODS = ["polling", "task", "progress", "timing out", "resuming", "disconnecting"] as const;
type Method = (typeof METHODS)[number];

interface Delivered {
  method: Method;
  peer: Peer;
  query: string;
  seconds: number;
  delivery: Delivery | undefined;
  failure: string | undefined;
}

export const longRun: Experiment = {
  name: "long-run",
  about:
    "Runs of seven minutes over stdio and HTTP, in both protocol eras, through the official client with its request timeout of 60 s: start_deep_research with check_research_status (wait_seconds 45) until the end, the same as a task, a blocking deep_search, one whose client times out and resumes it later, and one whose client disconnects.",
  minutes: 8,
  covers: "I3, J1, G8, Q1, U1",
  run: async (setting) => {
    const runMs = Math.max(2 * TIMEOUT_MS, RUN_MS * setting.scale);
    const late = monitorEventLoopDelay();
    late.enable();
    const closers: (() => Promise<void> | void)[] = [];
    const scene = await openHttpScene({ onTestFinished: (close) => void closers.unshift(close) }, scenarioOf(runMs));
    try {
      const http = await scene.http();
      const connect = async (transport: Peer["transport"], era: Era): Promise<Peer> => {
        const { client } = transport === "stdio" ? await scene.server({ era }) : await http.connect(era);
        // Starts are measured elsewhere; here all clients are connected before the first call.
        await client.callTool({ name: "list_research", arguments: {} });
        return { transport, era, client };
      };
      const pairs: Pair[] = [];
      for (const transport of TRANSPORTS) {
        for (const era of ERAS)
          pairs.push({ peer: await connect(transport, era), disconnecting: await connect(transport, era) });
      }
      const delivered = await Promise.all(pairs.map((pair) => deliverAll(setting, pair)));
      return [...findingsOf(delivered.flat(), scene.gemini), ...silences(delivered.flat(), late.max / 1e6)];
    } finally {
      for (const close of closers) await close();
    }
  },
};

const scenarioOf = (runMs: number): ScenarioInput => {
  const latency_ms = (runMs - FIRST_ROUND_MS) / 2;
  return {
    name: "long-run",
    tasks: {
      deep_search: [{ latency_ms: FIRST_ROUND_MS }],
      verify: [
        { round: 2, answer: "unverified", latency_ms },
        { round: 3, answer: "verified", latency_ms },
      ],
    },
    interactions: { duration_ms: runMs, speed: 1 },
  };
};

/** A client that disconnects uses its own connection; the remaining one checks its runs. */
interface Pair {
  peer: Peer;
  disconnecting: Peer;
}

/** All deliveries in parallel. */
async function deliverAll({ print }: LabSetting, { peer, disconnecting }: Pair): Promise<Delivered[]> {
  const { transport, era } = peer;
  const runFor = (method: Method): LongRun => ({
    query: `How do heat pumps perform in cold climates? (${method}, ${transport}, ${era})`,
    waitSeconds: WAIT_SECONDS,
  });
  // Shared: a second call continues where the first ended.
  let timingOut: Promise<Delivery> | undefined;
  const timedOut = (run: LongRun): Promise<Delivery> => (timingOut ??= byTimingOut(peer, run));
  const started: Record<Method, (run: LongRun) => Promise<Delivery>> = {
    polling: (run) => byPolling(peer, run),
    task: (run) => byTask(peer, run),
    progress: (run) => byProgress(peer, run),
    "timing out": (run) => timedOut(run),
    resuming: async () => {
      const run = runFor("timing out");
      return byResuming(peer, run, await timedOut(run));
    },
    disconnecting: (run) => byDisconnecting(disconnecting, { run, when: sleep(TIMEOUT_MS), reader: peer }),
  };
  return Promise.all(
    METHODS.map(async (method) => {
      const begun = performance.now();
      const run = runFor(method);
      const settled = await started[method](run).then(
        (delivery) => ({ delivery, failure: undefined }),
        (error: unknown) => ({ delivery: undefined, failure: error instanceof Error ? error.message : String(error) }),
      );
      const one = { method, peer, query: run.query, seconds: (performance.now() - begun) / 1_000, ...settled };
      print(`${method}: ${outcomeOf(one)}`);
      return one;
    }),
  );
}

function outcomeOf({ peer, delivery, failure, seconds }: Delivered): string {
  const client = `${peer.transport} ${peer.era}`;
  if (delivery === undefined) return `${client}: ${failure} (after ${seconds.toFixed(0)} s)`;
  const { status, partial, report } = delivery;
  return `${client}: ${status}, ${partial ? "part of a report" : "report"} of ${report.length} characters after ${seconds.toFixed(0)} s`;
}

function findingsOf(all: Delivered[], { ledger }: Simulator): Finding[] {
  const of = (method: Method): Delivered[] => all.filter((one) => one.method === method);
  const whole = ({ delivery }: Delivered): boolean => delivery?.status === "completed" && !delivery.partial;
  const readable = ({ delivery }: Delivered): boolean => (delivery?.report.length ?? 0) > 0;
  const each = (promise: string, method: Method, kept: (one: Delivered) => boolean): Finding => ({
    promise,
    target: `${of(method).length} of ${of(method).length}`,
    measured: `${of(method).filter(kept).length} of ${of(method).length}`,
    met: of(method).every(kept),
    note: of(method).map(outcomeOf).join("; "),
  });
  return [
    each("the report arrives by check_research_status with wait_seconds 45", "polling", whole),
    longestRequest(of("polling")),
    each("the report arrives as the result of a task", "task", whole),
    each("the report arrives in a blocking deep_search, when progress resets the client's timeout", "progress", whole),
    each("finished rounds are kept when the client times out after 60 s and cancels the call", "timing out", readable),
    each("resume_research then returns the whole report", "resuming", whole),
    each("finished rounds are kept when the client disconnects", "disconnecting", readable),
    paidStarts(all, ledger),
  ];
}

function longestRequest(polling: Delivered[]): Finding {
  const requests = polling.flatMap(({ delivery }) => delivery?.requests ?? []);
  const longest = worst(requests.map(({ tookMs }) => tookMs));
  return {
    promise: "none of these requests comes near the client's timeout",
    target: "≤ 50 s",
    measured: `${seconds(longest)} (longest of ${requests.length})`,
    met: longest <= 50_000,
  };
}

/**
 * A deep research is paid at its start, a search by each model response, of which a first round is one. Resumed runs
 * start later.
 */
function paidStarts(all: Delivered[], ledger: Simulator["ledger"]): Finding {
  const rounds = ledger.entries().filter(({ kind }) => kind === "deep_search");
  const asked = [...ledger.acceptedStarts().map(({ query }) => query), ...rounds.map(({ question }) => question)];
  const runs = all.filter(({ method }) => method !== "resuming");
  const times = runs.map(({ query }) => asked.filter((one) => one === query).length);
  return {
    promise: "paid starts of each run, by the ledger",
    target: "1",
    measured: `${Math.min(...times)} to ${Math.max(...times)} (${asked.length} starts, ${runs.length} runs)`,
    met: asked.length === runs.length && times.every((count) => count === 1),
  };
}

function silences(all: Delivered[], lateMs: number): Finding[] {
  const requests = all.flatMap(({ peer, delivery }) =>
    (delivery?.requests ?? []).map((request) => ({ ...request, client: `${peer.transport} ${peer.era}` })),
  );
  const largest = (figure: (request: Request) => number) =>
    requests.reduce((max, one) => (figure(one) > figure(max) ? one : max), requests[0] ?? NOTHING);
  const finding = (promise: string, figure: (request: Request) => number, targetMs: number): Finding => {
    const request = largest(figure);
    return {
      promise,
      target: `≤ ${targetMs / 1_000} s`,
      measured: `${seconds(figure(request))} (${request.tool}, ${request.client}; ${requests.length} requests)`,
      met: requests.length > 0 && figure(request) <= targetMs,
      note: `This machine's own timers were up to ${seconds(lateMs)} late.`,
    };
  };
  const blocking = requests
    .filter(({ tool }) => tool === "deep_search")
    .map(({ firstMessageMs }) => Math.round(firstMessageMs))
    .toSorted((a, b) => a - b);
  return [
    finding("longest time without a message in any call", ({ silenceMs }) => silenceMs, MAX_SILENCE_MS),
    {
      ...finding(
        "time to the first message of any call, or to its response",
        ({ firstMessageMs }) => firstMessageMs,
        2_000,
      ),
      note: `Those of deep_search, which all start at the same moment, in ms: ${blocking.join(", ")}.`,
    },
  ];
}

const NOTHING = { tool: "none", client: "none", tookMs: 0, firstMessageMs: 0, silenceMs: 0 };

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
