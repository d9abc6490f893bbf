/**
 * Leased rows shared by all processes on the database: concurrency limits, paid work that one call at a time may do, and
 * the temporary files that hold an invalid model output during its correction, which are deleted after a crash.
 */

import { randomUUID } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "./database.ts";
import { databaseNow, lockExclusive } from "./dialect.ts";
import { deadProcesses, processLiveness } from "./processes.ts";
import { errorCodeOf } from "../platform/error-code.ts";

/** Covers several failed renewals. A dead holder on this machine is detected without waiting for the lease. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const RETRY_MS = 100;
const FORGOTTEN_AFTER_MS = 24 * 3_600_000;

interface SlotPool {
  /** Resolves with the function that releases the slot. `onWait` is called once if the caller has to wait. */
  take(options: { signal: AbortSignal; onWait: () => void }): Promise<() => Promise<void>>;
}

interface SlotPoolOptions {
  db: Database;
  clock: Clock;
  log: Log;
  processId: string;
  pool: string;
  size: number;
  /** What is logged, before the reason, if the database cannot be used. */
  withoutStore: string;
}

export function createSlotPool(options: SlotPoolOptions): SlotPool {
  return {
    take: async ({ signal, onWait }) => {
      let waited = false;
      for (;;) {
        signal.throwIfAborted();
        const slotId = await tryTake(options).catch((error: unknown) => withoutStore(error, options));
        if (slotId === "uncounted") return async () => {};
        if (slotId !== undefined) return holdSlot(options, slotId);
        if (!waited) onWait();
        waited = true;
        // Jitter, so that waiting processes do not retry at the same time.
        await options.clock.sleep(RETRY_MS * (0.5 + Math.random()), signal);
      }
    },
  };
}

/** A full disk or a newer schema must not prevent the work; the limit is then not enforced. */
function withoutStore(error: unknown, { log, withoutStore: effect }: SlotPoolOptions): "uncounted" {
  if (!(error instanceof AppError)) throw error;
  log.warn(`${effect}: ${error.message}`);
  return "uncounted";
}

async function tryTake({ db, clock, processId, pool, size }: SlotPoolOptions): Promise<string | undefined> {
  const taken = await db
    .selectFrom("leases")
    .select(["lease_id", "process_id", "lease_until"])
    .where("pool", "=", pool)
    .execute();
  // A holder without a row may be alive and have lost it: then the lease decides.
  const dead = taken.length < size ? [] : await deadProcesses(db);
  const now = await databaseNow(db, clock.now());
  const free = taken.filter(
    ({ process_id: holder, lease_until: until }) => until < now || (holder !== processId && dead.includes(holder)),
  );
  if (taken.length - free.length >= size) return undefined;
  const slotId = randomUUID();
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `slots:${pool}`);
    for (const { lease_id, lease_until } of free) {
      // Not if it was renewed meanwhile.
      await transaction
        .deleteFrom("leases")
        .where("lease_id", "=", lease_id)
        .where("lease_until", "=", lease_until)
        .execute();
    }
    const { count } = await transaction
      .selectFrom("leases")
      .select((select) => select.fn.countAll<number>().as("count"))
      .where("pool", "=", pool)
      .executeTakeFirstOrThrow();
    if (count >= size) return undefined;
    await transaction
      .insertInto("leases")
      .values({ lease_id: slotId, pool, process_id: processId, lease_until: now + LEASE_MS })
      .execute();
    return slotId;
  });
}

function holdSlot(options: SlotPoolOptions, slotId: string): () => Promise<void> {
  const renewal = setInterval(() => {
    // The lease lasts four renewal intervals, so a single failure does no harm.
    void renew(options, slotId).catch(() => undefined);
  }, RENEW_MS);
  renewal.unref();
  return async () => {
    clearInterval(renewal);
    // A slot that cannot be released now becomes free when its lease expires.
    await options.db
      .deleteFrom("leases")
      .where("lease_id", "=", slotId)
      .execute()
      .catch(() => undefined);
  };
}

async function renew({ db, clock }: SlotPoolOptions, slotId: string): Promise<void> {
  const now = await databaseNow(db, clock.now());
  await db
    .updateTable("leases")
    .set({ lease_until: now + LEASE_MS })
    .where("lease_id", "=", slotId)
    .execute();
}

/** Slots of dead processes, and those left behind long ago on other machines. */
export async function forgetSlots(
  db: Database,
  { dead, now }: { dead: readonly string[]; now: number },
): Promise<void> {
  await db
    .deleteFrom("leases")
    .where("lease_until", "<", now - FORGOTTEN_AFTER_MS)
    .execute();
  if (dead.length > 0) await db.deleteFrom("leases").where("process_id", "in", dead).execute();
}

const FILES = "temporary files";
/** Longer than any correction takes. Counts for processes on other machines, whose liveness is unknown. */
const MAX_HELD_MS = 24 * 3_600_000;

/** False when the name is held already. */
async function holdFile(
  db: Database,
  { fileName, processId, now }: { fileName: string; processId: string; now: number },
): Promise<boolean> {
  const lease = { pool: FILES, process_id: processId, lease_until: now + MAX_HELD_MS };
  const inserted = await db
    .insertInto("leases")
    .values({ lease_id: fileName, ...lease })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

async function releaseFile(db: Database, fileName: string): Promise<void> {
  await db.deleteFrom("leases").where("lease_id", "=", fileName).execute();
}

/** Names held by processes that are not known to be dead. */
async function filesInUse(db: Database, now: number): Promise<Set<string>> {
  const rows = await db.selectFrom("leases").selectAll().where("pool", "=", FILES).execute();
  const owners = await processLiveness(
    db,
    rows.map((row) => row.process_id),
  );
  const inUse = rows.filter((row) => {
    const owner = owners.get(row.process_id);
    return owner === "alive" || (owner === "unknown" && row.lease_until > now);
  });
  return new Set(inUse.map((row) => row.lease_id));
}

interface ExclusiveOptions extends Omit<SlotPoolOptions, "size"> {
  signal: AbortSignal;
  onWait?: (() => void) | undefined;
}

interface LimitedOptions extends ExclusiveOptions {
  /** How long it waits for the calls before it. */
  maxMs: number;
}

/** Resolves with undefined, without having done the work, if the calls before it take longer than that. */
export function runExclusively<T>(options: LimitedOptions, work: () => Promise<T>): Promise<T | undefined>;
export function runExclusively<T>(options: ExclusiveOptions, work: () => Promise<T>): Promise<T>;
export async function runExclusively<T>(
  { signal, maxMs, onWait = () => {}, ...pool }: ExclusiveOptions & Partial<LimitedOptions>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const late = maxMs === undefined ? undefined : AbortSignal.timeout(Math.max(0, Math.ceil(maxMs)));
  const release = await createSlotPool({ ...pool, size: 1 })
    .take({ signal: late === undefined ? signal : AbortSignal.any([signal, late]), onWait })
    .catch((error: unknown) => {
      if (late?.aborted !== true || signal.aborted) throw error;
      return undefined;
    });
  if (release === undefined) return undefined;
  try {
    return await work();
  } finally {
    await release();
  }
}

const FILE_NAME = /^temp-invalid-output-.*\.txt$/;

interface InvalidOutputsOptions {
  directory: string;
  db: Database;
  processId: string;
  clock: Clock;
  log: Log;
}

export function createInvalidOutputs(options: InvalidOutputsOptions) {
  return {
    keep: async (text: string) => {
      const fileName = await write(options, text);
      return { path: join(options.directory, fileName), remove: () => remove(options, fileName) };
    },
  };
}

/** Registers the file before creating it, so that another starting process does not delete it as an orphan. */
async function write({ directory, db, processId, clock, log }: InvalidOutputsOptions, text: string): Promise<string> {
  for (let stamp = clock.now(); ; stamp += 1) {
    const fileName = `temp-invalid-output-${stamp}.txt`;
    // A database error must not fail the correction; the file is then not protected from cleanup.
    const held = await holdFile(db, { fileName, processId, now: clock.now() }).catch(() => true);
    if (!held) continue;
    try {
      await writeFile(join(directory, fileName), text, { flag: "wx", mode: 0o600 });
      return fileName;
    } catch (error) {
      if (errorCodeOf(error) === "EEXIST") continue;
      // The correction prompt contains the text as well, so the call can continue without the file.
      log.warn("The invalid output could not be written to a file; the correction continues without it.");
      await releaseFile(db, fileName).catch(() => undefined);
      return `temp-invalid-output-${randomUUID()}.txt`;
    }
  }
}

async function remove({ directory, db, log }: InvalidOutputsOptions, fileName: string): Promise<void> {
  try {
    await rm(join(directory, fileName), { force: true });
    await releaseFile(db, fileName);
  } catch {
    log.error(`The temporary file ${fileName} could not be deleted; the next start will try again.`);
  }
}

/** Deletes files that no live process has registered in the database, regardless of their age. */
export async function cleanupOrphanedTempFiles({
  directory,
  db,
  clock,
  log,
}: Pick<InvalidOutputsOptions, "directory" | "db" | "clock" | "log">): Promise<void> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch {
    log.warn(`The config directory ${directory} cannot be read; orphaned temporary files were not cleaned up.`);
    return;
  }
  const inUse = await filesInUse(db, clock.now());
  let deleted = 0;
  for (const name of names.filter((candidate) => FILE_NAME.test(candidate) && !inUse.has(candidate))) {
    try {
      await rm(join(directory, name), { force: true });
      await releaseFile(db, name);
      deleted += 1;
    } catch {
      log.warn(`The orphaned temporary file ${name} could not be deleted.`);
    }
  }
  log.info(`Cleaned up ${deleted} orphaned temporary ${deleted === 1 ? "file" : "files"}.`);
}
