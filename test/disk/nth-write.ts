/**
 * One paid run from its start to the saved report, in this process, with the n-th write and possibly later ones
 * failing.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../src/errors.ts";
import type { Agent } from "../../src/gemini/research-agent.ts";
import { createOutboxSender } from "../../src/notifications/outbox.ts";
import { saveMarkdown } from "../../src/reports/files/save-markdown.ts";
import type { ResearchDeps } from "../../src/runs/deps.ts";
import { createRunner, type Runner } from "../../src/runs/scheduling/runner.ts";
import { startResearch } from "../../src/runs/start/start.ts";
import { openStore } from "../../src/store/store.ts";
import { clock, FINISHED, request, WORKING } from "../kit/store/runner.ts";
import { type Faults, type FailingWrites, failWritesIn } from "./failing-writes.ts";
import { createTestLog } from "../kit/log.ts";
import { commonDeps, trackWork } from "../kit/store/research-deps.ts";

interface NthOutcome {
  /** One sentence for each broken promise. */
  broken: string[];
  /** 0 if the whole run needs fewer writes than `from`. */
  refused: number;
  posts: number;
  backups: number;
}

export interface EveryWrite {
  broken: string[];
  /** The number of writes that a whole run needs. */
  writes: number;
  refusedStarts: number;
  backups: number;
}

/** Repeats the run for n = 1, 2, 3 … until it needs fewer than n writes. */
export async function playEveryWrite(faults: Omit<Faults, "from">): Promise<EveryWrite> {
  const all: EveryWrite = { broken: [], writes: 0, refusedStarts: 0, backups: 0 };
  for (let from = 1; ; from += 1) {
    const { broken, refused, posts, backups } = await playNthWrite({ ...faults, from });
    all.broken.push(...broken.map((sentence) => `Write ${from}: ${sentence}`));
    if (refused === 0) return all;
    all.writes += 1;
    all.backups += backups;
    if (posts === 0) all.refusedStarts += 1;
  }
}

interface NthWorld {
  directory: string;
  writes: FailingWrites;
  posts: number;
  shown: string[];
  backups: string[];
  log: string[];
}

interface Process {
  durable: boolean;
  deps: ResearchDeps;
  runner: Runner;
  shutDown(): Promise<void>;
}

const REPORT = FINISHED.report;

async function playNthWrite(faults: Faults): Promise<NthOutcome> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-nth-"));
  const writes = failWritesIn(directory);
  const here: NthWorld = { directory, writes, posts: 0, shown: [], backups: [], log: [] };
  try {
    writes.arm(faults);
    const first = await begin(here);
    const { broken, taskId } = first.durable ? await playRun(here, first) : { broken: [], taskId: undefined };
    const refused = writes.refused();
    writes.disarm();
    await first.shutDown();
    const healthy = await begin(here);
    broken.push(...(await untilIdle(healthy.runner)));
    await healthy.shutDown();
    broken.push(...judge(here, taskId));
    return { broken, refused, posts: here.posts, backups: here.backups.length };
  } finally {
    writes.restore();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function begin(here: NthWorld): Promise<Process> {
  const { directory } = here;
  const log = createTestLog((line) => here.log.push(line), "WARN");
  const store = await openStore({ file: join(directory, "deep_research.db"), clock, log });
  const { db, processId } = store;
  const durable = (await store.obstacle()) === undefined;
  const leaving = new AbortController();
  const { working, during } = trackWork();
  const deps: ResearchDeps = {
    ...commonDeps({ db, processId, clock, log, leaving: leaving.signal }),
    stateDir: directory,
    during,
    backUp: (run, report) => backUp(here, run.taskId, report),
    notify: async () => {},
    agent: agentOf(here),
  };
  const notify = async ({ title }: { title: string }): Promise<void> => void here.shown.push(title);
  const { deliverPending } = createOutboxSender({ db, processId, clock, log, notify, signal: leaving.signal });
  const runner = createRunner({ deps, pollIntervalMs: 1_000, maxRps: 50, deliver: deliverPending });
  runner.start();
  return {
    durable,
    deps,
    runner,
    shutDown: async () => {
      leaving.abort();
      await Promise.allSettled(working);
      // The loop ends after its last statement has returned.
      await sleep(20);
      await store.close();
    },
  };
}

/** Two polls: the first finds half a report, the second the final one. */
function agentOf(here: NthWorld): Agent {
  let polls = 0;
  const poll = async () => {
    polls += 1;
    const interaction = polls === 1 ? { ...WORKING, report: "# Half", thoughts: ["Reading"] } : FINISHED;
    return { kind: "found", interaction } as const;
  };
  return {
    fingerprint: { key: "k", baseUrl: "" },
    start: async () => {
      here.posts += 1;
      return { kind: "accepted", interactionId: FINISHED.id };
    },
    poll,
    cancel: poll,
    delete: async () => ({ kind: "deleted" }),
    stream: async ({ onEvent }) => onEvent({ kind: "thought", text: "Reading", eventId: "1" }),
  };
}

async function backUp(here: NthWorld, taskId: string, text: string): Promise<string | undefined> {
  for (const name of ["reports", "fallback"]) {
    try {
      const directory = join(here.directory, name);
      const { path } = await saveMarkdown({ directory, named: { prefix: "backup", taskId }, text, now: clock.now() });
      here.backups.push(path);
      return path;
    } catch {
      // The next directory may have space.
    }
  }
  return undefined;
}

async function playRun(
  here: NthWorld,
  { deps, runner }: Process,
): Promise<{ broken: string[]; taskId: string | undefined }> {
  let taskId: string;
  try {
    const started = await startResearch(deps, request);
    if (started.kind === "started") await started.sending;
    ({ taskId } = started);
  } catch (error) {
    const isExpected = error instanceof AppError && (error.code === "DISK_FULL" || error.code === "SQLITE_ERROR");
    return {
      broken: [
        ...(isExpected ? [] : [`A start failed with ${error instanceof Error ? error.message : "another error"}.`]),
        ...(here.posts === 0 ? [] : ["A start was sent and answered as refused."]),
      ],
      taskId: undefined,
    };
  }
  runner.watch({ taskId, interactionId: FINISHED.id, model: request.agent, part: "question" });
  // On a disk that stays full, waits until the report is backed up or cannot be; then space is freed.
  const rescued = (): boolean => here.log.some((line) => /has ended, but|is complete, but/.test(line));
  const broken = await untilIdle(runner, rescued);
  const saving = await save(here, taskId);
  here.writes.disarm();
  return { broken: [...broken, ...saving, ...(await untilIdle(runner))], taskId };
}

const MAX_WAIT_MS = 20_000;

async function untilIdle(runner: Runner, enough = (): boolean => false): Promise<string[]> {
  for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end; await sleep(5)) {
    if (enough() || (await runner.idle())) return [];
  }
  return ["The runner did not become idle."];
}

/** A failed save reports the reason, leaves nothing behind and succeeds once there is space. */
async function save(here: NthWorld, taskId: string): Promise<string[]> {
  const directory = join(here.directory, "reports");
  const attempt = () =>
    saveMarkdown({ directory, named: { prefix: "report", taskId }, text: REPORT, now: clock.now() });
  try {
    await attempt();
    return [];
  } catch (error) {
    here.writes.disarm();
    await attempt();
    const details = error instanceof AppError && error.code === "DISK_FULL" ? error.details : undefined;
    const whole = details?.["path"] !== undefined && details["needed_bytes"] === Buffer.byteLength(REPORT);
    return whole && Number(details["available_bytes"]) > 0 ? [] : [`A save failed with ${String(error)}.`];
  }
}

function judge(here: NthWorld, taskId: string | undefined): string[] {
  const database = new DatabaseSync(join(here.directory, "deep_research.db"));
  const rows = (sql: string) => database.prepare(sql).all();
  try {
    const runs = rows("select * from research_tasks");
    const left = readdirSync(here.directory, { recursive: true, encoding: "utf8" });
    const files = left.filter((name) => name.endsWith(".md"));
    const torn = files.filter((name) => readFileSync(join(here.directory, name), "utf8") !== REPORT);
    const [run] = runs;
    const checks: [boolean, string][] = [
      [here.posts <= 1, `${here.posts} starts were sent.`],
      [runs.length === here.posts, `${here.posts} starts, but ${runs.length} runs.`],
      [run?.["task_id"] === taskId, "The returned run is not the stored one."],
      [run === undefined || run["status"] === "completed", `The run is ${String(run?.["status"])}.`],
      [run === undefined || run["interaction_id"] === FINISHED.id, "The id is lost."],
      [run === undefined || run["lease_until"] === null, "A lease is left."],
      [rows("select * from research_results where partial = 0").length === runs.length, "The report is not stored."],
      [here.shown.length === runs.length, `${here.shown.length} notifications for ${runs.length} runs.`],
      [
        rows("select * from notification_outbox where claimed_at is null").length === 0,
        "A notification was never claimed.",
      ],
      [run === undefined || files.some((name) => name.includes("report_")), "The report file is missing."],
      [torn.length === 0, `Torn: ${torn.join(", ")}`],
      [!left.some((name) => /\.tmp$|^orphans/.test(name)), `Left over: ${left.join(", ")}`],
      [rows("pragma integrity_check")[0]?.["integrity_check"] === "ok", "The database is damaged."],
    ];
    return checks.filter(([kept]) => !kept).map(([, sentence]) => sentence);
  } finally {
    database.close();
  }
}
