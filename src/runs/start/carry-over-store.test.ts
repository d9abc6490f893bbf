/** Which rows are copied with an unfinished run when the database file is replaced. */

import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { carryUnfinished } from "./carry-over-store.ts";

test("an unfinished run is carried over to a new database with its pictures, files and notifications (P5, V3)", async () => {
  const [from, to] = [await openDatabase(), await openDatabase()];
  await insertRun(to, { task_id: "there", status: "completed" });
  const notification = { channel: "desktop", kind: "completed", payload_json: "{}", created_at: 1 };
  await to
    .insertInto("notification_outbox")
    .values({ ...notification, task_id: "there" })
    .execute();
  await insertRun(from, { task_id: "open", status: "running_async" });
  const picture = { content_hash: "h", mime_type: "image/png", width: 1, height: 1, byte_length: 1, offset_byte: 0 };
  const content = new Uint8Array([7]);
  await from
    .insertInto("research_pictures")
    .values({ ...picture, task_id: "open", n: 1, content })
    .execute();
  await from.insertInto("picture_contents").values({ content_hash: "h", content }).execute();
  await from.insertInto("picture_contents").values({ content_hash: "of another run", content }).execute();
  await from
    .insertInto("notification_outbox")
    .values({ ...notification, task_id: "open" })
    .execute();
  await from.insertInto("research_files").values({ task_id: "open", n: 1, content }).execute();
  const carry = await carryUnfinished(from);
  await carry(to);
  // A repeated call, as after a partial failure.
  await carry(to);
  expect(await to.selectFrom("research_pictures").selectAll().execute()).toMatchObject([
    { ...picture, task_id: "open" },
  ]);
  expect(await to.selectFrom("picture_contents").select("content_hash").execute()).toEqual([{ content_hash: "h" }]);
  expect(await to.selectFrom("research_files").selectAll().execute()).toMatchObject([{ task_id: "open", n: 1 }]);
  const outbox = await to.selectFrom("notification_outbox").select(["task_id", "kind"]).orderBy("outbox_id").execute();
  expect(outbox).toEqual([
    { task_id: "there", kind: "completed" },
    { task_id: "open", kind: "completed" },
  ]);
});
