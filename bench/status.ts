/** Status read of one run among a million, compared with a tool on the same SDK that does nothing. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { BIN, isolatedEnvironment } from "../test/kit/server/server.ts";
import { fillWithRuns } from "./million-runs.ts";
import type { Table } from "./report.ts";
import { bundleBareServer, timeToTools } from "./startup.ts";
import { ratiosOf, spreadOf, type Tail, tailOf, withSpread } from "./statistics.ts";
import { listTools, openStdioClient, type Program, type StdioClient, timeCall } from "./stdio-client.ts";
import { withWorkspace } from "./workspace.ts";

const RUNS = 1_000_000;
const CALLS = 5_000;
const STARTS = 10;
/** Warm-up calls for compilers and caches; not counted. */
const WARM_UP = 200;
/** As a multiple of a call of the bare server, at p50 and at p99. */
const TARGET = 1.5;

interface Samples {
  bare: number[];
  status: number[];
  list: number[];
}

interface Starts {
  bare: number[];
  ours: number[];
  /** From the start of the process to the response of its first status read, which opens the store. */
  firstStatus: number[];
}

export const status = (): Promise<Table> => withWorkspace(measure);

async function measure(directory: string): Promise<Table> {
  const env = isolatedEnvironment(directory);
  const file = join(directory, "deep_research.db");
  const started = performance.now();
  const ids = await fillWithRuns(file, { runs: RUNS, ids: CALLS });
  const filling = { seconds: (performance.now() - started) / 1_000, gigabytes: statSync(file).size / 1e9 };
  const bare = { args: [await bundleBareServer(join(directory, "bare"))], env };
  const ours = { args: [BIN], env };
  const starts = await sampleStarts(bare, ours, ids);
  const [bareClient, client] = [openStdioClient(bare), openStdioClient(ours)];
  try {
    return tableOf(await sampleCalls(bareClient, client, ids), starts, filling);
  } finally {
    await Promise.all([bareClient.close(), client.close()]);
  }
}

async function sampleStarts(bare: Program, ours: Program, ids: readonly string[]): Promise<Starts> {
  const starts: Starts = { bare: [], ours: [], firstStatus: [] };
  for (let start = 0; start < STARTS; start += 1) {
    starts.bare.push(await timeToTools(bare, "modern"));
    starts.ours.push(await timeToTools(ours, "modern"));
    starts.firstStatus.push(await timeToStatus(ours, ids[start] ?? ""));
  }
  return starts;
}

async function timeToStatus(program: Program, taskId: string): Promise<number> {
  const client = openStdioClient(program);
  try {
    await timeCall(client, "check_research_status", { task_id: taskId });
    return performance.now() - client.spawnedAt;
  } finally {
    await client.close();
  }
}

/** Alternating, so that a slow moment of the machine affects all of them; one call at a time. */
async function sampleCalls(bare: StdioClient, ours: StdioClient, ids: readonly string[]): Promise<Samples> {
  const samples: Samples = { bare: [], status: [], list: [] };
  await Promise.all([listTools(bare, "modern"), listTools(ours, "modern")]);
  for (const [call, taskId] of [...ids.slice(0, WARM_UP), ...ids].entries()) {
    const took = {
      bare: await timeCall(bare, "echo", { text: taskId }),
      status: await timeCall(ours, "check_research_status", { task_id: taskId }),
      list: await timeCall(ours, "list_research", {}),
    };
    if (call < WARM_UP) continue;
    samples.bare.push(took.bare);
    samples.status.push(took.status);
    samples.list.push(took.list);
  }
  return samples;
}

function tableOf(samples: Samples, starts: Starts, filling: { seconds: number; gigabytes: number }): Table {
  const [bare, read, list] = [tailOf(samples.bare), tailOf(samples.status), tailOf(samples.list)];
  const row = (what: string, tail: Tail, target: string): string[] => [
    what,
    tail.p50.toFixed(2),
    tail.p99.toFixed(2),
    `${(tail.p50 / bare.p50).toFixed(1)}, ${(tail.p99 / bare.p99).toFixed(1)}`,
    target,
  ];
  const isMet = read.p50 / bare.p50 <= TARGET && read.p99 / bare.p99 <= TARGET;
  const startup = ratiosOf(starts.ours, starts.bare);
  return {
    title: `Status read with ${RUNS.toLocaleString("en")} stored runs, over stdio`,
    columns: ["call", "p50, ms", "p99, ms", "÷ bare: p50, p99", "target"],
    rows: [
      row("bare SDK server, a tool that does nothing", bare, ""),
      row("`check_research_status`", read, `≤ ${TARGET}, ${TARGET}: ${isMet ? "met" : "missed"}`),
      row("`list_research`, 20 runs", list, ""),
    ],
    notes: [
      `${CALLS.toLocaleString("en")} calls of each, alternating, one at a time, each status read of another run. The database was filled in ${filling.seconds.toFixed(0)} s and takes ${filling.gigabytes.toFixed(1)} GB.`,
      `Start-up to \`tools/list\` on that database: ${withSpread(spreadOf(starts.ours), 0)} ms, bare server ${withSpread(spreadOf(starts.bare), 0)} ms, ratio ${withSpread(startup, 2)}; to the response of a first status read, which opens the store: ${withSpread(spreadOf(starts.firstStatus), 0)} ms. Medians (quartiles) of ${STARTS} starts each.`,
    ],
    figures: [
      {
        what: "status read among a million runs ÷ a tool that does nothing, p50",
        value: read.p50 / bare.p50,
        limit: TARGET,
      },
      {
        what: "status read among a million runs ÷ a tool that does nothing, p99",
        value: read.p99 / bare.p99,
        limit: TARGET,
      },
    ],
    passed: true,
  };
}
