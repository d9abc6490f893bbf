/**
 * Fifty concurrent HTTP clients with the same request ids: whether answers are mixed up, latency, memory, and the rate of
 * each kind of call compared with a bare server on the same SDK that checks the same tokens.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { addToken } from "../src/http/auth/tokens.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { type RunningHttpServer, startHttpServer } from "../test/kit/server/http-server.ts";
import {
  callMarked,
  type MarkedClient,
  openMarkedClient,
  searchMarked,
  wrongWith,
} from "../test/kit/server/marked-clients.ts";
import { type Era, TEST_KEY } from "../test/kit/server/server.ts";
import { threadsMs } from "./processor-time.ts";
import { quietLog } from "./questions.ts";
import type { Figure, Table } from "./report.ts";
import { forkSimulator } from "./simulator-process.ts";
import { bundleBareServer } from "./startup.ts";
import { median, tailOf } from "./statistics.ts";
import { withWorkspace } from "./workspace.ts";

const CLIENTS = 50;
/** Of each kind. */
const CALLS = 2_000;
/** The kinds of calls and the two servers alternate, so that a slow moment of the machine affects all of them. */
const ROUNDS = 10;
const CALLS_EACH = CALLS / ROUNDS / CLIENTS;
/** Per client, with delays between 0 and 200 ms, so that answers overtake each other. */
const SEARCHES_EACH = 4;
/** Checked but not timed: the compilers of both servers get as many calls of each kind. */
const WARM_UP_ROUNDS = 3;
const SETTLE_MS = 60_000;
/** The least share of the bare server's rate, and the memory that a loaded server falls back to. */
const MIN_SHARE = { unknownTool: 0.8, reads: 0.6 };
const MAX_SETTLED_MB = 130;

interface Call {
  era: Era;
  tookMs: number;
}

interface Kind {
  what: string;
  ask: (client: MarkedClient) => Promise<{ tookMs: number; wrong?: string }>;
}

/** The calls of one kind to one server, and the rate and the processor time of a call in each round. */
interface Measured {
  kind: Kind;
  calls: Call[];
  perSecond: number[];
  processorMs: number[];
}

interface Side {
  server: RunningHttpServer;
  clients: MarkedClient[];
  measured: Measured[];
  wrong: string[];
  /** Answers that were checked. */
  checked: number;
  /** In megabytes: at the start, after each round, and after a quiet period. */
  memory: number[];
}

export const http = (): Promise<Table> => withWorkspace(measure);

async function measure(directory: string): Promise<Table> {
  const simulator = await forkSimulator();
  const steps = Array.from({ length: CLIENTS * SEARCHES_EACH }, (_, n) => ({ latency_ms: (n * 37) % 200 }));
  await simulator.setScenario({ name: "delays", tasks: { search: steps } });
  const bareFile = await bundleBareServer(join(directory, "bare"), "bare-http-server");
  const homes = ["bare-home", "home"].map((name) => join(directory, name));
  const tokens = await Promise.all(homes.map(tokensIn));
  const [bareHome = "", home = ""] = homes;
  const servers = await Promise.all([
    startHttpServer({ program: [bareFile], configDir: bareHome }),
    startHttpServer({ configDir: home, env: environment(simulator.url) }),
  ]);
  try {
    const [bare, ours] = await Promise.all([
      openSide(servers[0], tokens[0] ?? [], BARE),
      openSide(servers[1], tokens[1] ?? [], OURS),
    ]);
    const searched = await Promise.all(ours.clients.map(searchAll));
    ours.wrong.push(...searched.flat());
    ours.checked += CLIENTS * SEARCHES_EACH;
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) await playRound(bare, ours, round);
    await sleep(SETTLE_MS);
    for (const side of [bare, ours]) side.memory.push(residentMb(side.server));
    return tableOf(bare, ours);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    await simulator.close();
  }
}

const environment = (url: string): Record<string, string> => ({
  MCP_RATE_LIMIT_PER_MINUTE: "0",
  SEARCH_BACKEND: "api",
  GEMINI_API_KEY: TEST_KEY,
  GOOGLE_GEMINI_BASE_URL: url,
});

/** The same as `token add`, without fifty processes. */
async function tokensIn(home: string): Promise<string[]> {
  mkdirSync(home);
  const store = await openSqlite(join(home, "deep_research.db"), quietLog);
  try {
    const names = Array.from({ length: CLIENTS }, (_, n) => `client-${n}`);
    return await Promise.all(names.map((name) => addToken(store.db, { name, now: Date.now() })));
  } finally {
    await store.close();
  }
}

async function openSide(server: RunningHttpServer, tokens: readonly string[], kinds: readonly Kind[]): Promise<Side> {
  const memory = [residentMb(server)];
  const clients = await Promise.all(
    tokens.map((token, n) => openMarkedClient({ url: server.url, era: n % 2 === 0 ? "modern" : "legacy", token })),
  );
  const measured = kinds.map((kind) => ({ kind, calls: [], perSecond: [], processorMs: [] }));
  return { server, clients, measured, wrong: [], checked: 0, memory };
}

async function searchAll(client: MarkedClient): Promise<string[]> {
  const wrong: string[] = [];
  for (let n = 0; n < SEARCHES_EACH; n += 1) {
    const found = await searchMarked(client);
    if (found !== undefined) wrong.push(found);
  }
  return wrong;
}

const READS = ["`list_research`", "`check_research_status`", "`get_research_results`"];
const UNKNOWN_TOOL = "an unknown tool";

/** In the order of `callMarked`. */
const OURS: readonly Kind[] = [...READS, "an unknown parameter", UNKNOWN_TOOL].map((what, n) => ({
  what,
  ask: async (client) => {
    const { answer, ...judged } = await callMarked(client, n);
    return { tookMs: answer.tookMs, ...judged };
  },
}));

const BARE: readonly Kind[] = [
  {
    what: "a tool that does nothing",
    ask: async (client) => {
      const answer = await client.ask("echo", { text: client.marker });
      const wrong = wrongWith(client, answer, client.marker);
      return { tookMs: answer.tookMs, ...(wrong === undefined ? {} : { wrong }) };
    },
  },
];

/** Every kind of our calls has a turn of the bare server beside it. */
async function playRound(bare: Side, ours: Side, round: number): Promise<void> {
  for (const measured of ours.measured) {
    for (const idle of bare.measured) await playTurn(bare, idle, round >= 0);
    await playTurn(ours, measured, round >= 0);
  }
  if (round >= 0) for (const side of [bare, ours]) side.memory.push(residentMb(side.server));
}

/** All clients in parallel, each one call after the other. */
async function playTurn(side: Side, { kind, ...measured }: Measured, isTimed: boolean): Promise<void> {
  const { server, clients, wrong } = side;
  const before = threadsMs(server.pid);
  const begun = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (let n = 0; n < CALLS_EACH; n += 1) {
        const { tookMs, wrong: found } = await kind.ask(client);
        if (found !== undefined) wrong.push(found);
        if (isTimed) measured.calls.push({ era: client.era, tookMs });
      }
    }),
  );
  const calls = CALLS_EACH * clients.length;
  side.checked += calls;
  if (!isTimed) return;
  measured.perSecond.push((calls * 1_000) / (performance.now() - begun));
  measured.processorMs.push((threadsMs(server.pid) - before) / calls);
}

const residentMb = ({ pid }: RunningHttpServer): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1_024;

function tableOf(bare: Side, ours: Side): Table {
  const [idle] = bare.measured;
  if (idle === undefined) throw new Error("The bare server was not measured.");
  const wrong = [...bare.wrong, ...ours.wrong];
  const eras = (["modern", "legacy"] as const).map((era): string[] => {
    const calls = ours.measured.flatMap((kind) => kind.calls).filter((call) => call.era === era);
    const what = era === "modern" ? "2026-07-28, without a session" : "2025-11-25, in a session";
    return [`ours, ${what}`, String(calls.length), "", "", "", "", ...tailCells(calls)];
  });
  return {
    title: `${CLIENTS} HTTP clients at once, all with the same request ids`,
    columns: ["calls", "number", "per second", "÷ bare", "processor time, ms", "bare ÷ this", "p50, ms", "p99, ms"],
    rows: [
      rowOf("bare SDK server,", idle, idle),
      ...ours.measured.map((measured) => rowOf("ours,", measured, idle)),
      ...eras,
    ],
    notes: [
      `Responses with data of another client: **${wrong.length} of ${(bare.checked + ours.checked).toLocaleString("en")}**, including ${WARM_UP_ROUNDS} untimed rounds and ${CLIENTS * SEARCHES_EACH} searches. ${wrong[0] ?? ""}`.trim(),
      `Medians of ${ROUNDS} rounds, in each of which every kind of our calls follows a turn of the bare server; the clients are in one process, which needs a separate core. Every client is a user with its own token, which both servers check on each request in a database; clients of ours read their own runs. The bare server has no sessions. Processor time is that of the server for one call, by the kernel: unlike the rate, it does not depend on other programs. Target: an unknown tool ≥ ${MIN_SHARE.unknownTool} of the bare server, each read ≥ ${MIN_SHARE.reads}.`,
      `Memory at the start, the median after each of the last ${ROUNDS / 2} rounds, and after ${SETTLE_MS / 1_000} s without calls: bare ${memoryOf(bare)} MB, ours ${memoryOf(ours)} MB. Target after: ≤ ${MAX_SETTLED_MB} MB.`,
    ],
    figures: [
      ...ours.measured.flatMap((measured) => figuresOf(measured, idle)),
      { what: "memory a minute after load, MB", value: ours.memory.at(-1) ?? Number.NaN, limit: MAX_SETTLED_MB },
    ],
    passed: wrong.length === 0,
  };
}

/** The bare server's rate and the call's processor time, each as a multiple of the other side's. */
function figuresOf({ kind: { what }, perSecond, processorMs: own }: Measured, idle: Measured): Figure[] {
  const share = what === UNKNOWN_TOOL ? MIN_SHARE.unknownTool : READS.includes(what) ? MIN_SHARE.reads : undefined;
  if (share === undefined) return [];
  return [
    { what: `HTTP, bare rate ÷ ours, ${what}`, value: ratioTo(idle.perSecond, perSecond), limit: 1 / share },
    { what: `HTTP, processor time ÷ bare, ${what}`, value: 1 / ratioTo(idle.processorMs, own), limit: 1 / share },
  ];
}

/** Of the bare server's turns, those just before the turns of this kind. */
function ratioTo(bare: readonly number[], own: readonly number[]): number {
  const turns = bare.length / own.length;
  return median(own.map((sample, round) => median(bare.slice(round * turns, (round + 1) * turns)) / sample));
}

const tookMs = (call: Call): number => call.tookMs;

function tailCells(calls: readonly Call[]): string[] {
  const { p50, p99 } = tailOf(calls.map(tookMs));
  return [p50.toFixed(1), p99.toFixed(1)];
}

const rowOf = (whose: string, { kind, calls, perSecond, processorMs: own }: Measured, idle: Measured): string[] => [
  `${whose} ${kind.what}`,
  String(calls.length),
  median(perSecond).toFixed(0),
  (1 / ratioTo(idle.perSecond, perSecond)).toFixed(2),
  median(own).toFixed(2),
  ratioTo(idle.processorMs, own).toFixed(2),
  ...tailCells(calls),
];

function memoryOf({ memory }: Side): string {
  const plateau = median(memory.slice(-1 - ROUNDS / 2, -1));
  return [memory[0] ?? Number.NaN, plateau, memory.at(-1) ?? Number.NaN].map((mb) => mb.toFixed(0)).join(", ");
}
