/** Ten thousand runs on one PostgreSQL, followed by one, two and four workers: how fast, how late, at what cost. */

import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Postgres, startPostgres } from "../scripts/postgres.ts";
import { askPostgres, type Reader } from "../test/fleet/ask-postgres.ts";
import { isolatedEnvironment, TEST_KEY } from "../test/support/server.ts";
import { fillPostgres, LIFE_MS } from "./fleet-runs.ts";
import { fleetTable, type Idle, type Phase, type Sample } from "./fleet-table.ts";
import { processorMs } from "./processor-time.ts";
import type { Table } from "./report.ts";
import { forkSimulator, type ForkedSimulator } from "./simulator-process.ts";
import { tailOf } from "./statistics.ts";
import { startWorker, type WorkerProcess } from "./worker-process.ts";
import { withWorkspace } from "./workspace.ts";

const RUNS = 10_000;
const WORKERS = [1, 2, 4];
const IDLE_S = 20;
const STEADY_S = 20;
const STEADY_PER_S = 100;
/** A bench that does not end says nothing. */
const LIMIT_MS = 300_000;

export const fleet = (): Promise<Table> => withWorkspace(measureAll);

async function measureAll(directory: string): Promise<Table> {
  const postgres = await startPostgres({ fsync: true });
  if (postgres === undefined) throw new Error("PostgreSQL is not installed.");
  const server = await askPostgres(`${postgres.url}postgres`);
  try {
    await server.query("create database filled");
    const began = performance.now();
    const remembered = await fillPostgres(`${postgres.url}filled`, RUNS);
    const fillMs = performance.now() - began;
    const samples: Sample[] = [];
    for (const workers of WORKERS) {
      const home = join(directory, String(workers));
      mkdirSync(home);
      writeFileSync(join(home, "google.jsonl"), remembered);
      await server.query(`create database runs_${workers} template filled`);
      samples.push(await measure({ postgres, url: `${postgres.url}runs_${workers}`, home, workers }));
      process.stderr.write(`${JSON.stringify(samples.at(-1))}\n`);
    }
    const [, , load = Number.NaN] = loadavg();
    const phases = { idleS: IDLE_S, steadyS: STEADY_S, steadyPerS: STEADY_PER_S };
    return fleetTable(samples, { runs: RUNS, fillMs, load, ...phases });
  } finally {
    await server.close();
    await postgres.stop();
  }
}

interface Place {
  postgres: Postgres;
  url: string;
  home: string;
  workers: number;
}

interface Stage extends Place {
  reader: Reader;
  simulator: ForkedSimulator;
  processes: WorkerProcess[];
}

async function measure(place: Place): Promise<Sample> {
  const simulator = await forkSimulator(["--state", join(place.home, "google.jsonl")]);
  const reader = await askPostgres(place.url);
  const processes: WorkerProcess[] = [];
  const stage: Stage = { ...place, reader, simulator, processes };
  try {
    for (let n = 0; n < place.workers; n += 1) {
      const home = join(place.home, `worker-${n}`);
      mkdirSync(home);
      processes.push(startWorker(settingsOf(home, stage)));
    }
    const handedMs = await untilCount(reader, "handed_to is not null", RUNS);
    const idle = await quiet(stage);
    const { phase: steady, late } = await steadily(stage);
    const waits = new Map<string, number>();
    const all = await phaseOf(stage, RUNS, async () => {
      const asked = await looks(stage);
      await reader.query("update research_tasks set next_poll_at = 0");
      await until(async () => {
        await noteWaits(reader, waits);
        return (await looks(stage)) - asked >= RUNS;
      });
    });
    await simulator.skip(2 * LIFE_MS);
    const collected = await phaseOf(stage, RUNS, async () => {
      await reader.query("update research_tasks set next_poll_at = 0");
      await untilCount(reader, "status = 'completed'", RUNS);
    });
    const used = await Promise.all(processes.map((one) => one.used()));
    const peakMb = Math.max(...used.map((one) => one.peakMb));
    const bytesPerRun = (await number(reader, "select pg_database_size(current_database()) as n")) / RUNS;
    return {
      workers: place.workers,
      handedMs,
      idle,
      steady,
      late,
      all,
      waits: sharesOf(waits),
      collected,
      peakMb,
      bytesPerRun,
    };
  } finally {
    await Promise.all(processes.map((one) => one.close()));
    await reader.close();
    await simulator.close();
  }
}

const settingsOf = (home: string, { url, simulator }: Stage): Record<string, string> => ({
  ...isolatedEnvironment(home),
  GEMINI_API_KEY: TEST_KEY,
  GOOGLE_GEMINI_BASE_URL: simulator.url,
  GEMINI_SEARCH_DATABASE_URL: url,
  // No limit of ours is to be what is measured.
  RESEARCH_MAX_RPS: "10000",
  RESEARCH_MAX_FOLLOWED: String(2 * RUNS),
  // A look makes the run due in ten minutes: when it is due before, the bench says.
  RESEARCH_POLL_INTERVAL_MS: "600000",
});

async function number(reader: Reader, statement: string): Promise<number> {
  const [row] = await reader.query<{ n: number }>(statement);
  return row?.n ?? Number.NaN;
}

async function until(reached: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await reached())) {
    if (performance.now() - began > LIMIT_MS) throw new Error("It takes too long to be measured.");
    await sleep(100);
  }
  return performance.now() - began;
}

const untilCount = (reader: Reader, which: string, count: number): Promise<number> =>
  until(async () => (await number(reader, `select count(*) as n from research_tasks where ${which}`)) >= count);

const looks = async ({ simulator }: Stage): Promise<number> =>
  Object.values(await simulator.countRequests()).reduce((sum, requests) => sum + requests, 0);

/** What the connections of the workers are at, counted whenever somebody looks. */
async function noteWaits(reader: Reader, waits: Map<string, number>): Promise<void> {
  const rows = await reader.query<{ at: string; n: number }>(
    `select case when state <> 'active' then 'the worker' when wait_event is null then 'nothing, it works'
        else wait_event end as at, count(*) as n
      from pg_stat_activity where datname = current_database() and application_name = 'gemini-search-mcp' group by 1`,
  );
  for (const { at, n } of rows) waits.set(at, (waits.get(at) ?? 0) + n);
}

const sharesOf = (waits: Map<string, number>): [string, number][] => {
  const sum = [...waits.values()].reduce((all, one) => all + one, 0);
  return [...waits].map(([at, n]): [string, number] => [at, n / sum]).toSorted(([, one], [, other]) => other - one);
};

const walBytes = "select (pg_current_wal_lsn() - '0/0')::bigint as n";
const transactions = `select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()`;

async function spent({ processes, postgres, simulator, reader }: Stage) {
  const used = await Promise.all(processes.map((one) => one.used()));
  return {
    at: performance.now(),
    workersMs: used.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    postgresMs: processorMs(postgres.pid()),
    googleMs: processorMs(simulator.pid),
    wal: await number(reader, walBytes),
  };
}

/** What it took of the processor, in cores, and of the log, while this many looks were made. */
async function phaseOf(stage: Stage, count: number, work: () => Promise<void>): Promise<Phase> {
  const before = await spent(stage);
  await work();
  const after = await spent(stage);
  const ms = after.at - before.at;
  return {
    ms,
    perSecond: (count / ms) * 1_000,
    workers: (after.workersMs - before.workersMs) / ms,
    postgres: (after.postgresMs - before.postgresMs) / ms,
    google: (after.googleMs - before.googleMs) / ms,
    walPerLook: (after.wal - before.wal) / count,
  };
}

async function quiet(stage: Stage): Promise<Idle> {
  // What was handed out late, and the first turn of everything, is not idleness.
  await sleep(8_000);
  const count = await number(stage.reader, transactions);
  const phase = await phaseOf(stage, IDLE_S, () => sleep(IDLE_S * 1_000));
  return { ...phase, transactions: ((await number(stage.reader, transactions)) - count) / IDLE_S };
}

/** The database notes how late each claim is; that costs something, which is why it is off elsewhere. */
const NOTE_CLAIMS = `
  create table claims_made (late bigint);
  create function note_claim() returns trigger language plpgsql as $$ begin
    insert into claims_made values (extract(epoch from clock_timestamp()) * 1000 - old.next_poll_at);
    return null;
  end $$;
  create trigger note_claim after update on research_tasks for each row
    when (new.lease_epoch > old.lease_epoch) execute function note_claim()`;

async function steadily(stage: Stage): Promise<{ phase: Phase; late: { p50: number; p99: number } }> {
  const { reader } = stage;
  const count = STEADY_S * STEADY_PER_S;
  await reader.query(NOTE_CLAIMS);
  const phase = await phaseOf(stage, count, async () => {
    await reader.query(
      `update research_tasks set next_poll_at = $1::bigint + (random() * $2)::bigint
        where task_id in (select task_id from research_tasks order by random() limit $3)`,
      [Date.now() + 1_000, STEADY_S * 1_000, count],
    );
    await until(async () => (await number(reader, "select count(*) as n from claims_made")) >= count);
  });
  const rows = await reader.query<{ late: number }>("select late from claims_made");
  await reader.query("drop trigger note_claim on research_tasks");
  return { phase, late: tailOf(rows.map(({ late }) => late)) };
}
