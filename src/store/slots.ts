/** Concurrency limit shared by all processes on the database: a slot is a leased row. */

import { randomUUID } from "node:crypto";
import { AppError } from "../errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "./database.ts";
import { lockExclusive } from "./dialect.ts";
import { processLiveness } from "./processes.ts";

/** Covers several failed renewals. A dead holder on this machine is detected without waiting for the lease. */
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const RETRY_MS = 100;

export interface SlotPool {
  /** Resolves with the function that releases the slot. `onWait` is called once if the caller has to wait. */
  take(options: { signal: AbortSignal; onWait: () => void }): Promise<() => Promise<void>>;
}

export interface SlotPoolOptions {
  db: Database;
  clock: Clock;
  log: Log;
  processId: string;
  pool: string;
  size: number;
}

export function createSlotPool(options: SlotPoolOptions): SlotPool {
  return {
    take: async ({ signal, onWait }) => {
      let waited = false;
      for (;;) {
        signal.throwIfAborted();
        const slotId = await tryTake(options).catch((error: unknown) => withoutStore(error, options.log));
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

/** A full disk or a newer schema must not prevent searches; the limit is then not enforced. */
function withoutStore(error: unknown, log: Log): "uncounted" {
  if (!(error instanceof AppError)) throw error;
  log.warn(`The limit on Gemini CLI processes is not enforced for this call: ${error.message}`);
  return "uncounted";
}

async function tryTake({ db, clock, processId, pool, size }: SlotPoolOptions): Promise<string | undefined> {
  const taken = await db
    .selectFrom("slots")
    .select(["slot_id", "process_id", "lease_until"])
    .where("pool", "=", pool)
    .execute();
  const owners = await processLiveness(
    db,
    taken.map((slot) => slot.process_id),
  );
  const now = clock.now();
  const free = taken.filter((slot) => {
    const state = owners.get(slot.process_id);
    return state === "dead" || (state === "unknown" && slot.lease_until < now);
  });
  if (taken.length - free.length >= size) return undefined;
  const slotId = randomUUID();
  return db.transaction().execute(async (transaction) => {
    await lockExclusive(transaction, `slots:${pool}`);
    if (free.length > 0) {
      await transaction
        .deleteFrom("slots")
        .where(
          "slot_id",
          "in",
          free.map((slot) => slot.slot_id),
        )
        .execute();
    }
    const { count } = await transaction
      .selectFrom("slots")
      .select((select) => select.fn.countAll<number>().as("count"))
      .where("pool", "=", pool)
      .executeTakeFirstOrThrow();
    if (count >= size) return undefined;
    await transaction
      .insertInto("slots")
      .values({ slot_id: slotId, pool, process_id: processId, taken_at: now, lease_until: now + LEASE_MS })
      .execute();
    return slotId;
  });
}

function holdSlot({ db, clock }: SlotPoolOptions, slotId: string): () => Promise<void> {
  const renewal = setInterval(() => {
    void db
      .updateTable("slots")
      .set({ lease_until: clock.now() + LEASE_MS })
      .where("slot_id", "=", slotId)
      .execute()
      // The lease lasts four renewal intervals, so a single failure does no harm.
      .catch(() => undefined);
  }, RENEW_MS);
  renewal.unref();
  return async () => {
    clearInterval(renewal);
    // A slot that cannot be released now becomes free when this process ends.
    await db
      .deleteFrom("slots")
      .where("slot_id", "=", slotId)
      .execute()
      .catch(() => undefined);
  };
}

export async function slotHolders(db: Database): Promise<string[]> {
  const rows = await db.selectFrom("slots").select("process_id").distinct().execute();
  return rows.map(({ process_id }) => process_id);
}
