/** Fifty concurrent HTTP clients with the same request ids: whether answers are mixed up, latency, and memory. */

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
import { quietLog } from "./questions.ts";
import type { Table } from "./report.ts";
import { forkSimulator } from "./simulator-process.ts";
import { bundleBareServer } from "./startup.ts";
import { median, ratiosOf, tailOf, withSpread } from "./statistics.ts";
import { withWorkspace } from "./workspace.ts";

const CLIENTS = 50;
const CALLS = 10_000;
/** The two servers alternate, so that a slow moment of the machine affects both. */
const ROUNDS = 10;
const CALLS_EACH = CALLS / ROUNDS / CLIENTS;
/** Per client, with delays between 0 and 200 ms, so that answers overtake each other. */
const SEARCHES_EACH = 4;
/** Checked but not timed: the searches and a warm-up round. */
const UNTIMED = CLIENTS * (SEARCHES_EACH + CALLS_EACH);
const SETTLE_MS = 5_000;

interface Call {
  what: string;
  era: Era;
  tookMs: number;
}

type Ask = (client: MarkedClient, n: number) => Promise<{ what: string; tookMs: number; wrong?: string }>;

interface Side {
  server: RunningHttpServer;
  clients: MarkedClient[];
  ask: Ask;
  calls: Call[];
  perSecond: number[];
  wrong: string[];
  /** In megabytes: at the start, after each round, and after a quiet period. */
  memory: number[];
}

export const http = (): Promise<Table> => withWorkspace(measure);

async function measure(directory: string): Promise<Table> {
  const simulator = await forkSimulator();
  const steps = Array.from({ length: CLIENTS * SEARCHES_EACH }, (_, n) => ({ latency_ms: (n * 37) % 200 }));
  await simulator.setScenario({ name: "delays", tasks: { search: steps } });
  const bareFile = await bundleBareServer(join(directory, "bare"), "bare-http-server");
  const home = join(directory, "home");
  mkdirSync(home);
  const tokens = await tokensIn(home);
  const servers = await Promise.all([
    startHttpServer({ program: [bareFile], configDir: directory }),
    startHttpServer({ configDir: home, env: environment(simulator.url) }),
  ]);
  try {
    const [bare, ours] = await Promise.all([
      openSide(servers[0], { tokens: [], ask: askBare }),
      openSide(servers[1], { tokens, ask: askOurs }),
    ]);
    const searched = await Promise.all(ours.clients.map(searchAll));
    ours.wrong.push(...searched.flat());
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const side of [bare, ours]) await playRound(side, round);
    }
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
  const store = await openSqlite(join(home, "deep_research.db"), quietLog);
  try {
    const names = Array.from({ length: CLIENTS }, (_, n) => `client-${n}`);
    return await Promise.all(names.map((name) => addToken(store.db, { name, now: Date.now() })));
  } finally {
    await store.close();
  }
}

async function openSide(server: RunningHttpServer, { tokens, ask }: { tokens: string[]; ask: Ask }): Promise<Side> {
  const memory = [residentMb(server)];
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, n) => {
      const [token, era] = [tokens[n], n % 2 === 0 ? ("modern" as const) : ("legacy" as const)];
      return openMarkedClient({ url: server.url, era, ...(token === undefined ? {} : { token }) });
    }),
  );
  return { server, clients, ask, calls: [], perSecond: [], wrong: [], memory };
}

async function searchAll(client: MarkedClient): Promise<string[]> {
  const wrong: string[] = [];
  for (let n = 0; n < SEARCHES_EACH; n += 1) {
    const found = await searchMarked(client);
    if (found !== undefined) wrong.push(found);
  }
  return wrong;
}

const WHAT = [
  "`list_research`",
  "`check_research_status`",
  "`get_research_results`",
  "an unknown parameter",
  "an unknown tool",
];

const askOurs: Ask = async (client, n) => {
  const { answer, ...judged } = await callMarked(client, n);
  return { what: WHAT[n % WHAT.length] ?? "", tookMs: answer.tookMs, ...judged };
};

const askBare: Ask = async (client) => {
  const answer = await client.ask("echo", { text: client.marker });
  const wrong = wrongWith(client, answer, client.marker);
  return { what: "echo", tookMs: answer.tookMs, ...(wrong === undefined ? {} : { wrong }) };
};

/** All clients in parallel, each one call after the other. The first round is checked, but not timed. */
async function playRound(
  { server, clients, ask, calls, perSecond, wrong, memory }: Side,
  round: number,
): Promise<void> {
  const begun = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (let n = 0; n < CALLS_EACH; n += 1) {
        const { what, tookMs, wrong: found } = await ask(client, n);
        if (found !== undefined) wrong.push(found);
        if (round >= 0) calls.push({ what, era: client.era, tookMs });
      }
    }),
  );
  if (round < 0) return;
  perSecond.push((CALLS_EACH * CLIENTS * 1_000) / (performance.now() - begun));
  memory.push(residentMb(server));
}

const residentMb = ({ pid }: RunningHttpServer): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1_024;

function tableOf(bare: Side, ours: Side): Table {
  const ratio = ratiosOf(ours.perSecond, bare.perSecond);
  const [bareTail, oursTail] = [tailOf(bare.calls.map(tookMs)), tailOf(ours.calls.map(tookMs))];
  const part = (what: string, some: Call[]): string[] => [what, `${some.length}`, "", ...tailCells(some), ""];
  const wrong = [...bare.wrong, ...ours.wrong];
  return {
    title: `${CLIENTS} HTTP clients at once, all with the same request ids`,
    columns: ["calls", "number", "per second", "p50, ms", "p99, ms", "memory: start, plateau, after, MB"],
    rows: [
      whole("bare SDK server, a tool that does nothing", bare),
      whole("ours, all", ours),
      ...WHAT.map((what) =>
        part(
          `ours, ${what}`,
          ours.calls.filter((call) => call.what === what),
        ),
      ),
      part(
        "ours, 2026-07-28, without a session",
        ours.calls.filter(({ era }) => era === "modern"),
      ),
      part(
        "ours, 2025-11-25, in a session",
        ours.calls.filter(({ era }) => era === "legacy"),
      ),
    ],
    notes: [
      `Responses with data of another client: **${ours.wrong.length} of ${(CALLS + UNTIMED).toLocaleString("en")}**, including ${UNTIMED.toLocaleString("en")} untimed calls, of which ${CLIENTS * SEARCHES_EACH} are searches. ${wrong[0] ?? ""}`.trim(),
      `Ours ÷ bare: calls per second ${withSpread(ratio, 2)}, p50 ${(oursTail.p50 / bareTail.p50).toFixed(2)}, p99 ${(oursTail.p99 / bareTail.p99).toFixed(2)}. The two servers alternate in ${ROUNDS} rounds; the clients, in one process, need a separate core. Every client of ours is a user with its own token, which is checked on each request, and reads its own runs from the database; the bare server has no authentication and no sessions.`,
      `The plateau is the median after each of the last ${ROUNDS / 2} rounds; after: ${SETTLE_MS / 1_000} s without calls.`,
    ],
    passed: wrong.length === 0,
  };
}

const tookMs = (call: Call): number => call.tookMs;

function tailCells(calls: Call[]): string[] {
  const { p50, p99 } = tailOf(calls.map(tookMs));
  return [p50.toFixed(1), p99.toFixed(1)];
}

function whole(what: string, { calls, perSecond, memory }: Side): string[] {
  const plateau = median(memory.slice(-1 - ROUNDS / 2, -1));
  const megabytes = [memory[0] ?? Number.NaN, plateau, memory.at(-1) ?? Number.NaN].map((mb) => mb.toFixed(0));
  return [what, `${calls.length}`, median(perSecond).toFixed(0), ...tailCells(calls), megabytes.join(", ")];
}
