/** Records which temporary files live processes use, so that a later start deletes only orphans. */

import type { Database } from "./database.ts";
import { processLiveness } from "./processes.ts";

export interface HeldFile {
  fileName: string;
  processId: string;
  now: number;
}

/** False when the name is held already. */
export async function holdFile(db: Database, file: HeldFile): Promise<boolean> {
  const inserted = await db
    .insertInto("held_files")
    .values({ file_name: file.fileName, process_id: file.processId, created_at: file.now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function releaseFile(db: Database, fileName: string): Promise<void> {
  await db.deleteFrom("held_files").where("file_name", "=", fileName).execute();
}

/** Longer than any correction takes. Applies to processes on other machines, whose liveness is unknown. */
const MAX_HELD_MS = 24 * 60 * 60_000;

/** Names held by processes that are not known to be dead. */
export async function filesInUse(db: Database, now: number): Promise<Set<string>> {
  const rows = await db.selectFrom("held_files").selectAll().execute();
  const owners = await processLiveness(
    db,
    rows.map((row) => row.process_id),
  );
  const inUse = rows.filter((row) => {
    const owner = owners.get(row.process_id);
    return owner === "alive" || (owner === "unknown" && row.created_at > now - MAX_HELD_MS);
  });
  return new Set(inUse.map((row) => row.file_name));
}

export async function fileHolders(db: Database): Promise<string[]> {
  const rows = await db.selectFrom("held_files").select("process_id").distinct().execute();
  return rows.map(({ process_id }) => process_id);
}
