/** The overhead of a search beyond the work itself: the Gemini CLI's own process, or the API's response. */

import { join } from "node:path";
import { DEFAULT_API_MODEL } from "../src/costs/prices.ts";
import { BIN, isolatedEnvironment, TEST_KEY } from "../test/kit/server/server.ts";
import { installTimedGemini, runDefaultCli, type TimedGemini } from "./gemini-cli.ts";
import { QUERY, searchPrompt } from "./questions.ts";
import type { Figure, Table } from "./report.ts";
import { forkSimulator, type ForkedSimulator } from "./simulator-process.ts";
import { ratiosOf, spreadOf, withSpread } from "./statistics.ts";
import { listTools, openStdioClient, type StdioClient, timeCall } from "./stdio-client.ts";
import { withWorkspace } from "./workspace.ts";

/** Far below a real model's time, so that the ratios are worse than in practice. */
const MODEL_MS = 300;
const FRESH_SERVERS = 3;
/** On the API backend. */
const MAX_OVERHEAD_MS = 10;

interface Subject {
  title: string;
  /** Simulated latency of the model. */
  modelMs: number;
  calls: number;
  env: Record<string, string>;
  /** Milliseconds of the work itself: in the call just made, or in one made for comparison. */
  ownTime(): Promise<number>;
  /** The same question by other means, timed after every call. */
  peer?: () => Promise<number>;
}

interface Samples {
  whole: number[];
  own: number[];
  peer: number[];
}

export const overhead = (): Promise<Table> => withWorkspace(measureAll);

async function measureAll(directory: string): Promise<Table> {
  const simulator = await forkSimulator();
  try {
    const rows: string[][] = [];
    const notes: string[] = [];
    const figures: Figure[] = [];
    for (const subject of subjects(directory, simulator)) {
      await simulator.setScenario({ name: "bench", latency_ms: subject.modelMs });
      const first = await sampleFirstCalls(subject, directory);
      const warm = await sampleWarmCalls(subject, directory);
      rows.push(rowOf(subject, first, warm));
      if (subject.peer !== undefined) notes.push(noteOnPeer(warm));
      if (subject.env["SEARCH_BACKEND"] !== "api") continue;
      const value = spreadOf(overheadsOf(warm)).median;
      figures.push({ what: `overhead of \`search\`, ${subject.title}, ms`, value, limit: MAX_OVERHEAD_MS });
    }
    return { ...tableOf(rows, notes), figures };
  } finally {
    await simulator.close();
  }
}

function subjects(directory: string, { url }: ForkedSimulator): Subject[] {
  const standin = installTimedGemini(join(directory, "standin"), "standin");
  const real = installTimedGemini(join(directory, "real"), "real");
  const cli = ({ path }: TimedGemini, more = {}) => ({
    SEARCH_BACKEND: "cli",
    PATH: path,
    GOOGLE_GEMINI_BASE_URL: url,
    ...more,
  });
  const slept = cli(standin, { GEMINI_STANDIN_SCENARIO: JSON.stringify({ sleepMs: MODEL_MS }) });
  const api = { SEARCH_BACKEND: "api", GOOGLE_GEMINI_BASE_URL: url };
  return [
    {
      title: `CLI backend, stand-in CLI that sleeps ${MODEL_MS} ms`,
      modelMs: 0,
      calls: 12,
      env: slept,
      ownTime: async () => standin.lastTime() + (await standin.timeUnseen(slept)),
    },
    {
      title: "CLI backend, real Gemini CLI, instant model",
      modelMs: 0,
      calls: 5,
      env: cli(real),
      ownTime: async () => real.lastTime() + (await real.timeUnseen(cli(real))),
      peer: () => runDefaultCli({ directory, prompt: searchPrompt(), simulatorUrl: url }),
    },
    {
      title: "API backend, instant model",
      modelMs: 0,
      calls: 60,
      env: api,
      ownTime: () => timeBareFetch(url),
    },
    {
      title: `API backend, model that takes ${MODEL_MS} ms`,
      modelMs: MODEL_MS,
      calls: 8,
      env: api,
      ownTime: () => timeBareFetch(url),
    },
  ];
}

async function sampleFirstCalls(subject: Subject, directory: string): Promise<Samples> {
  const samples: Samples = { whole: [], own: [], peer: [] };
  for (let server = 0; server < FRESH_SERVERS; server += 1) {
    await withServer(subject, directory, (client) => sampleCall(subject, client, samples));
  }
  return samples;
}

async function sampleWarmCalls(subject: Subject, directory: string): Promise<Samples> {
  const samples: Samples = { whole: [], own: [], peer: [] };
  await withServer(subject, directory, async (client) => {
    await timeCall(client, "search", { query: QUERY });
    for (let call = 0; call < subject.calls; call += 1) {
      await sampleCall(subject, client, samples);
      if (subject.peer !== undefined) samples.peer.push(await subject.peer());
    }
  });
  return samples;
}

async function sampleCall(subject: Subject, client: StdioClient, { whole, own }: Samples): Promise<void> {
  whole.push(await timeCall(client, "search", { query: QUERY }));
  own.push(await subject.ownTime());
}

async function withServer(
  { env }: Subject,
  directory: string,
  use: (client: StdioClient) => Promise<void>,
): Promise<void> {
  const client = openStdioClient({
    args: [BIN],
    env: { ...isolatedEnvironment(directory), GEMINI_API_KEY: TEST_KEY, ...env },
  });
  try {
    await listTools(client, "modern");
    await use(client);
  } finally {
    await client.close();
  }
}

/** The request of the API backend without anything around it. */
async function timeBareFetch(url: string): Promise<number> {
  const body = JSON.stringify({
    contents: [{ role: "user", parts: [{ text: searchPrompt() }] }],
    tools: [{ googleSearch: {} }, { urlContext: {} }],
  });
  const started = performance.now();
  const response = await fetch(`${url}/v1beta/models/${DEFAULT_API_MODEL}:streamGenerateContent?alt=sse`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-key": TEST_KEY },
    body,
  });
  await response.text();
  if (!response.ok) throw new Error(`The simulator answered ${response.status}.`);
  return performance.now() - started;
}

const overheadsOf = ({ whole, own }: Samples): number[] => whole.map((ms, index) => ms - (own[index] ?? Number.NaN));

function rowOf({ title, calls }: Subject, first: Samples, warm: Samples): string[] {
  return [
    title,
    String(calls),
    withSpread(spreadOf(warm.whole), 1),
    withSpread(spreadOf(warm.own), 1),
    `**${withSpread(spreadOf(overheadsOf(warm)), 1)}**`,
    `**${withSpread(ratiosOf(warm.whole, warm.own), 3)}**`,
    withSpread(spreadOf(overheadsOf(first)), 1),
  ];
}

function noteOnPeer({ whole, peer }: Samples): string {
  const took = withSpread(spreadOf(peer), 0);
  return `The same question to a default Gemini CLI run by hand, in turn with the real CLI's row: ${took} ms; our whole call is ${withSpread(ratiosOf(whole, peer), 2)} of it.`;
}

function tableOf(rows: string[][], notes: string[]): Table {
  return {
    title: "Overhead of a `search` over what does the work",
    columns: [
      "search",
      "calls",
      "whole call, ms",
      "own time, ms",
      "overhead, ms",
      "whole ÷ own",
      "overhead of a server's first call, ms",
    ],
    rows,
    notes: [
      `Medians (quartiles), call by call. Own time of a CLI: its process by its own measurement in the same call, plus the part of its start and end that it cannot measure, from the same command without a server, alternating with the calls. Own time of the API: a bare \`fetch\` of the same request, alternating with the calls. First calls: ${FRESH_SERVERS} servers; they also open the database and load modules that a start does not need.`,
      ...notes,
    ],
    passed: true,
  };
}
