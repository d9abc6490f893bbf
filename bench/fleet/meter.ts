/** Resource use of a fleet during a measurement: CPU time by program, WAL, and written tuples. */

import { processorMs } from "../processor-time.ts";
import type { Span } from "./polls.ts";
import type { Fleet } from "./world.ts";

export interface Usage extends Span {
  /** In cores. */
  workers: number;
  postgres: number;
  google: number;
  walBytes: number;
  tuples: number;
}

const DATABASE = `select (pg_current_wal_lsn() - '0/0')::bigint as wal, tup_inserted + tup_updated + tup_deleted as tuples
  from pg_stat_database where datname = current_database()`;

async function read({ reader, postgres, google, workers }: Fleet) {
  const [database] = await reader.query<{ wal: number; tuples: number }>(DATABASE);
  return {
    at: Date.now(),
    workersMs: workers.reduce((sum, { pid }) => sum + processorMs(pid), 0),
    postgresMs: processorMs(postgres.pid()),
    googleMs: processorMs(google.pid),
    wal: database?.wal ?? Number.NaN,
    tuples: database?.tuples ?? Number.NaN,
  };
}

export async function metered(fleet: Fleet, work: () => Promise<unknown>): Promise<Usage> {
  const before = await read(fleet);
  await work();
  const after = await read(fleet);
  const ms = after.at - before.at;
  return {
    from: before.at,
    to: after.at,
    workers: (after.workersMs - before.workersMs) / ms,
    postgres: (after.postgresMs - before.postgresMs) / ms,
    google: (after.googleMs - before.googleMs) / ms,
    walBytes: after.wal - before.wal,
    tuples: after.tuples - before.tuples,
  };
}
