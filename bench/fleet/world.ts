/** A PostgreSQL with fsync, a stand-in for Google, and workers of the built program with runs in progress. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Postgres, startPostgres } from "../../scripts/postgres.ts";
import { openPostgresReader, type Reader } from "../../test/fleet/postgres-reader.ts";
import { startCommand } from "../../test/kit/server/command.ts";
import { BIN, isolatedEnvironment, TEST_KEY } from "../../test/kit/server/server.ts";
import { QUERY } from "../questions.ts";
import { type CpuQuota, limitCpu } from "./cpu-quota.ts";
import { type Google, NORMAL, RUN_PREFIX, startGoogle } from "./google-process.ts";

/** Number of runs of the first owner; all others share a second owner. */
export const SMALL_OWNER_RUNS = 50;

export interface Worker {
  pid: number;
  /** Limits it to this many cores; false if not possible. */
  limit(cores: number): boolean;
  unlimit(): void;
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void;
  stop(): Promise<void>;
  /** Peak resident memory. */
  peakMb(): number;
}

interface WorkerOptions {
  pollIntervalMs: number;
  maxRps: number;
}

/** A separate database with runs in progress at Google. */
export interface Fleet {
  postgres: Postgres;
  google: Google;
  reader: Reader;
  workers: Worker[];
  runs: number;
  addWorkers(count: number, options: WorkerOptions): Promise<void>;
}

export interface World {
  withFleet<T>(runs: number, use: (fleet: Fleet) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** One run is started through the command line; the runs of a fleet are copies of its rows. */
export async function openWorld(directory: string): Promise<World> {
  const postgres = await startPostgres({ fsync: true });
  if (postgres === undefined) throw new Error("PostgreSQL is not installed.");
  const google = await startGoogle();
  const server = await openPostgresReader(`${postgres.url}postgres`);
  const environment = (database: string): Record<string, string> => ({
    ...isolatedEnvironment(directory),
    GEMINI_API_KEY: TEST_KEY,
    GOOGLE_GEMINI_BASE_URL: google.url,
    GEMINI_SEARCH_DATABASE_URL: postgres.url + database,
    RESEARCH_SYNC_WINDOW_MS: "0",
    RESEARCH_MAX_RPS: "0",
  });
  await server.query("create database one_run");
  const start = ["research", QUERY, "--yes", "--json", "--no-enable-notifications"];
  const started = await startCommand([...start, "--max-wait-hours", "24"], { env: environment("one_run") }).ended;
  if (started.code !== 0) throw new Error(`The first run did not start: ${started.stderr}`);

  let fleets = 0;
  return {
    withFleet: async (runs, use) => {
      const name = `fleet_${(fleets += 1)}`;
      await server.query(`create database ${name} template one_run`);
      // As docs/many-machines.md recommends: otherwise pg-boss's queries read the whole table.
      await server.query(`alter database ${name} set random_page_cost = 1.1`);
      const reader = await openPostgresReader(postgres.url + name);
      const workers: Worker[] = [];
      const addWorkers = async (count: number, options: WorkerOptions): Promise<void> => {
        const env = environment(name);
        const settings = {
          RESEARCH_POLL_INTERVAL_MS: String(options.pollIntervalMs),
          RESEARCH_MAX_RPS: String(options.maxRps),
        };
        const starts = Array.from({ length: count }, () => startWorker({ ...env, ...settings }));
        workers.push(...(await Promise.all(starts)));
      };
      google.behave(NORMAL);
      try {
        await copyRuns(reader, runs);
        return await use({ postgres, google, reader, workers, runs, addWorkers });
      } finally {
        await Promise.all(workers.map((worker) => worker.stop()));
        await google.takePolls();
        await reader.close();
        await server.query(`drop database ${name} with (force)`);
      }
    },
    close: async () => {
      await server.close();
      await google.close();
      await postgres.stop();
    },
  };
}

/** Copies all columns, so that copies have the values the program wrote; the program's repair schedules their polls. */
async function copyRuns(reader: Reader, runs: number): Promise<void> {
  await reader.query(
    `insert into research_tasks select copy.* from research_tasks as run, generate_series(1, $1::int - 1) as n,
      lateral jsonb_populate_record(run, jsonb_build_object('task_id', gen_random_uuid(), 'join_key', '${RUN_PREFIX}' || n,
        'interaction_id', '${RUN_PREFIX}' || n, 'owner', case when n < $2 then 'small' else 'large' end)) as copy`,
    [runs, SMALL_OWNER_RUNS],
  );
  await reader.query(
    `insert into research_attempts select copy.* from research_attempts as attempt,
      (select task_id, interaction_id from research_tasks where interaction_id <> '${RUN_PREFIX}0') as run,
      lateral jsonb_populate_record(attempt, jsonb_build_object('attempt_id', gen_random_uuid(), 'task_id', run.task_id,
        'interaction_id', run.interaction_id)) as copy`,
  );
  await reader.query("update research_tasks set owner = 'small' where owner = 'local'");
  await reader.query("analyze");
}

const READY = /Polling \d+ unfinished/;
const STOP_MS = 10_000;

async function startWorker(env: Record<string, string>): Promise<Worker> {
  // The kernel ends the child when this process dies for any reason.
  const program = ["--pdeathsig", "KILL", process.execPath, BIN, "worker"];
  const child = spawn("setpriv", program, { env, stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-10_000)));
  while (!READY.test(stderr)) {
    if (child.exitCode !== null) throw new Error(`A worker did not start: ${stderr}`);
    await sleep(50);
  }
  const pid = child.pid ?? 0;
  let quota: CpuQuota | undefined;
  return {
    pid,
    limit: (cores) => {
      quota ??= limitCpu(pid, cores);
      return quota !== undefined;
    },
    unlimit: () => {
      quota?.remove();
      quota = undefined;
    },
    signal: (name) => void child.kill(name),
    peakMb: () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024,
    stop: async () => {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      if (child.exitCode === null && child.signalCode === null) await exited;
      clearTimeout(killTimer);
      quota?.remove();
    },
  };
}
