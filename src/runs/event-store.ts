/** The SQL of what happened in a run, in order. */

import { z } from "zod";
import { type Database, storable } from "../store/database.ts";

export interface RunEvent {
  kind: string;
  text: string;
  at: number;
}

export function appendEvents(db: Database, taskId: string, events: RunEvent[]): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    const last = await transaction
      .selectFrom("research_events")
      .select((select) => select.fn.max("seq").as("seq"))
      .where("task_id", "=", taskId)
      .executeTakeFirst();
    const first = (last?.seq ?? 0) + 1;
    const rows = events.map((event, index) => ({
      task_id: taskId,
      seq: first + index,
      at: event.at,
      kind: event.kind,
      data_json: storable(JSON.stringify({ text: event.text })),
    }));
    await transaction.insertInto("research_events").values(rows).execute();
  });
}

export async function lastEvent(db: Database, taskId: string, kind: string): Promise<RunEvent | undefined> {
  const row = await db
    .selectFrom("research_events")
    .selectAll()
    .where("task_id", "=", taskId)
    .where("kind", "=", kind)
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { kind: row.kind, at: row.at, text: z.object({ text: z.string() }).parse(JSON.parse(row.data_json)).text };
}
