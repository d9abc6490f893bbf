/**
 * Ten thousand unfinished runs of a dead process, taken over by one worker: how soon, at what request rate and cost.
 */

import { writeFileSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { DEFAULT_AGENT } from "../src/gemini/research-agent.ts";
import { saveInteractionId } from "../src/runs/interaction-store.ts";
import { commitIntent } from "../src/runs/start/start-store.ts";
import type { SavedLine } from "../simulator/interactions/state.ts";
import { keyFingerprint } from "../simulator/ledger.ts";
import type { OpenDatabase } from "../src/store/database.ts";
import { openSqlite } from "../src/store/sqlite/sqlite.ts";
import { isolatedEnvironment, TEST_KEY } from "../test/kit/server/server.ts";
import { QUERY, quietLog } from "./questions.ts";
import type { Table } from "./report.ts";
import { forkSimulator, type ForkedSimulator } from "./simulator-process.ts";
import { startWorker, type Used, type WorkerProcess } from "./worker-process.ts";
import { withWorkspace } from "./workspace.ts";

const RUNS = 10_000;
/** The number of polls a process has in flight, hence of runs that it leaves under lease. */
const IN_FLIGHT = 8;
const DEFAULT_RPS = 5;
/** Ten thousand runs then take at least 100 s. */
const MAX_RPS = 100;
const SAMPLE_S = 20;
/** The start of the process is excluded. */
const SETTLE_S = 4;

const TARGET = { recoveredMs: 10_000, idleCpu: 0.05 };
/** Tolerance in any second: the seconds of the bench and the worker differ, and timers can be late. */
const PER_SECOND_SLACK = 1.2;

interface Subject {
  title: string;
  maxRps: number;
  maxPeakMb: number;
  /** The state of every run at Google. */
  life: Record<string, unknown>;
}

const SUBJECTS: readonly Subject[] = [
  { title: "none is done at Google", maxRps: DEFAULT_RPS, maxPeakMb: 110, life: { status: "in_progress" } },
  { title: "all are done at Google", maxRps: MAX_RPS, maxPeakMb: 200, life: { duration_ms: 0 } },
];

interface Sample {
  maxRps: number;
  maxPeakMb: number;
  /** From the start of the process until it has taken over the dead one's runs and logs how many it polls. */
  recoveredMs: number;
  /** Until the first request to Google. */
  firstPollMs: number;
  /** Requests in each second, starting with the first. */
  perSecond: number[];
  cpu: number;
  last: Used;
  collected: number;
}

export const recovery = (): Promise<Table> => withWorkspace(measureAll);

async function measureAll(directory: string): Promise<Table> {
  const filled = join(directory, "filled.db");
  const started = performance.now();
  const interactionIds = await fill(filled);
  const fillMs = performance.now() - started;
  const samples: Sample[] = [];
  for (const [index, subject] of SUBJECTS.entries()) {
    const home = join(directory, String(index));
    await mkdir(home);
    await copyFile(filled, join(home, "deep_research.db"));
    const stateFile = join(home, "google.jsonl");
    writeFileSync(stateFile, stateOf(interactionIds, subject.life));
    samples.push(await measure(subject, home, stateFile));
  }
  return tableOf(samples, fillMs);
}

/** Through the product's own start protocol, without durability. */
async function fill(file: string): Promise<string[]> {
  const { db, close } = await openSqlite(file, quietLog);
  await sql`pragma synchronous = off`.execute(db);
  const now = Date.now();
  const ids: string[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const intent = await commitIntent(db, { ...INTENT, query: `${QUERY} (${run})`, joinKey: `key-${run}`, now }, NEW);
    if (intent.kind !== "intended") throw new Error("Every run is one of its own.");
    const interactionId = `v1_bench_${run}`;
    await saveInteractionId(db, { attemptId: intent.attemptId, interactionId, now });
    ids.push(interactionId);
  }
  const held = db.selectFrom("research_tasks").select("task_id").limit(IN_FLIGHT);
  await db
    .updateTable("research_tasks")
    .set({ lease_owner: INTENT.processId, lease_until: now + 60_000, next_poll_at: now + 60_000 })
    .where("task_id", "in", held)
    .execute();
  await close();
  return ids;
}

const NEW = { join: false };

const INTENT = {
  owner: "local",
  agent: DEFAULT_AGENT,
  options: { max_wait_ms: 86_400_000 },
  estimate: { minutes: { low: 5, likely: 10, high: 20 }, cost_usd: { low: 1, likely: 2, high: 5 } },
  client: "bench",
  // Ten thousand desktop notifications are not part of this.
  enableNotifications: false,
  maxWaitMs: 86_400_000,
  keyFingerprint: undefined,
  baseUrl: "",
  processId: "a-process-that-died",
};

function stateOf(interactionIds: readonly string[], life: Record<string, unknown>): string {
  const key = keyFingerprint(TEST_KEY);
  const facts = {
    query: QUERY,
    agent: DEFAULT_AGENT,
    labels: {},
    key,
    at: Date.now(),
    skipped: 0,
    thinks: true,
    draws: false,
    life,
  };
  const line = (id: string): SavedLine => ({ event: "start", id, ...facts });
  return interactionIds.map((id) => `${JSON.stringify(line(id))}\n`).join("");
}

async function measure(subject: Subject, home: string, stateFile: string): Promise<Sample> {
  const simulator = await forkSimulator(["--state", stateFile]);
  const store = await openSqlite(join(home, "deep_research.db"), quietLog);
  const worker = startWorker({
    ...isolatedEnvironment(home),
    GEMINI_API_KEY: TEST_KEY,
    GOOGLE_GEMINI_BASE_URL: simulator.url,
    RESEARCH_MAX_RPS: String(subject.maxRps),
  });
  try {
    return { maxRps: subject.maxRps, maxPeakMb: subject.maxPeakMb, ...(await takeSample(worker, simulator, store)) };
  } finally {
    await worker.close();
    await store.close();
    await simulator.close();
  }
}

async function takeSample(
  worker: WorkerProcess,
  simulator: ForkedSimulator,
  { db }: OpenDatabase,
): Promise<Omit<Sample, "maxRps" | "maxPeakMb">> {
  const [polling, released] = await Promise.all([
    worker.logged(`Polling ${RUNS} unfinished`),
    worker.logged("are polled again"),
  ]);
  const count = async (): Promise<number> =>
    Object.values(await simulator.countRequests()).reduce((sum, requests) => sum + requests, 0);
  let before = await count();
  while (before === 0) {
    await sleep(5);
    before = await count();
  }
  const firstPollAt = performance.now();
  const perSecond: number[] = [];
  let lastCountAt = firstPollAt;
  let settled: { cpuMs: number; at: number } | undefined;
  for (let second = 1; second <= SAMPLE_S; second += 1) {
    await sleep(Math.max(0, firstPollAt + second * 1_000 - performance.now()));
    const now = await count();
    // On a busy machine a second may be counted late.
    const countedAt = performance.now();
    perSecond.push(Math.round(((now - before) * 1_000) / (countedAt - lastCountAt)));
    lastCountAt = countedAt;
    before = now;
    if (second === SETTLE_S) settled = { cpuMs: (await worker.used()).cpuMs, at: performance.now() };
  }
  const last = await worker.used();
  const { rows } = await sql<{ n: number }>`select count(*) as n from research_results where partial = 0`.execute(db);
  return {
    recoveredMs: Math.max(polling, released) - worker.spawnedAt,
    firstPollMs: firstPollAt - worker.spawnedAt,
    perSecond,
    cpu: settled === undefined ? Number.NaN : (last.cpuMs - settled.cpuMs) / (performance.now() - settled.at),
    last,
    collected: rows[0]?.n ?? 0,
  };
}

const mean = ({ perSecond }: Sample): number => perSecond.reduce((sum, count) => sum + count, 0) / perSecond.length;
const maxPerSecond = ({ perSecond }: Sample): number => Math.max(...perSecond);
const isWithinRateLimit = (sample: Sample): boolean =>
  // The first request is finished when the first second begins.
  mean(sample) <= sample.maxRps + 1 / SAMPLE_S && maxPerSecond(sample) <= Math.ceil(sample.maxRps * PER_SECOND_SLACK);

interface Line {
  what: string;
  figure: (sample: Sample) => string;
  /** Undefined if the line has no target. */
  target?: { words: string; met: (sample: Sample) => boolean | undefined };
}

function cell({ figure, target }: Line, sample: Sample): string {
  const met = target?.met(sample);
  return met === undefined ? figure(sample) : `${figure(sample)}: ${met ? "met" : "missed"}`;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const timers = ({ last }: Sample): number => last.resources.filter((resource) => resource === "Timeout").length;

const LINES: readonly Line[] = [
  {
    what: "start of the process until all are taken over",
    figure: ({ recoveredMs }) => seconds(recoveredMs),
    target: { words: "≤ 10 s", met: ({ recoveredMs }) => recoveredMs <= TARGET.recoveredMs },
  },
  { what: "until the first request to Google", figure: ({ firstPollMs }) => seconds(firstPollMs) },
  {
    what: "requests per second: mean, maximum in one second",
    figure: (sample) => `${mean(sample).toFixed(2)}, ${maxPerSecond(sample)}`,
    target: { words: "mean ≤ `RESEARCH_MAX_RPS`, any second ≤ 120 % of it", met: isWithinRateLimit },
  },
  { what: `reports collected in ${SAMPLE_S} s`, figure: ({ collected }) => collected.toLocaleString("en") },
  {
    what: `all ${RUNS.toLocaleString("en")} at that rate`,
    figure: (sample) => (sample.collected === 0 ? "—" : seconds((RUNS / mean(sample)) * 1_000)),
  },
  {
    what: "peak memory (RSS)",
    figure: ({ last }) => `${last.peakMb.toFixed(0)} MB`,
    target: { words: "≤ 110 MB idle, ≤ 200 MB collecting", met: ({ last, maxPeakMb }) => last.peakMb <= maxPeakMb },
  },
  {
    what: "CPU, of one core",
    figure: ({ cpu }) => `${(cpu * 100).toFixed(1)} %`,
    target: {
      words: `≤ 5 % at ${DEFAULT_RPS} per second`,
      met: ({ cpu, maxRps }) => (maxRps > DEFAULT_RPS ? undefined : cpu <= TARGET.idleCpu),
    },
  },
  {
    what: "open timers, other handles",
    figure: (sample) => `${timers(sample)}, ${sample.last.resources.length - timers(sample)}`,
  },
];

function tableOf(samples: readonly Sample[], fillMs: number): Table {
  return {
    title: `Recovery of ${RUNS.toLocaleString("en")} unfinished runs in one process`,
    columns: ["", ...SUBJECTS.map(({ title, maxRps }) => `\`RESEARCH_MAX_RPS=${maxRps}\`, ${title}`), "target"],
    rows: LINES.map((line) => [line.what, ...samples.map((sample) => cell(line, sample)), line.target?.words ?? ""]),
    notes: [
      `The built \`worker\` on a database whose runs were started by a dead process, ${IN_FLIGHT} of them under its lease, all of them due (filled in ${seconds(fillMs)}). Google is the simulator in a separate process. ${SAMPLE_S} s of polling, of which the CPU time is measured over the last ${SAMPLE_S - SETTLE_S}.`,
    ],
    figures: samples.flatMap(({ recoveredMs, maxPeakMb, last }, index) => [
      {
        what: `taking over 10,000 runs, ${SUBJECTS[index]?.title ?? ""}, ms`,
        value: recoveredMs,
        limit: TARGET.recoveredMs,
      },
      { what: `peak memory with them, ${SUBJECTS[index]?.title ?? ""}, MB`, value: last.peakMb, limit: maxPeakMb },
    ]),
    passed: samples.every(isWithinRateLimit),
  };
}
