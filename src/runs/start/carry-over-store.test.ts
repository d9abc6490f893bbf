/** Which rows are copied with an unfinished run when the database file is replaced. */

import { sql, type Updateable } from "kysely";
import { expect, test } from "vitest";
import { openRunner, request } from "../../../test/kit/store/runner.ts";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import type { Tables } from "../../store/database.ts";
import { sweep } from "../recovery/sweep.ts";
import { carryOver, rememberRun, type RememberedRuns, updateRemembered } from "./carry-over-store.ts";
import { startResearch } from "./start.ts";

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
  await from
    .insertInto("notification_outbox")
    .values({ ...notification, task_id: "open" })
    .execute();
  await from.insertInto("research_files").values({ task_id: "open", n: 1, content }).execute();
  const carry = await carryOver({ db: from, mayBeOverwritten: false }, new Map());
  await carry(to);
  // A repeated call, as after a partial failure.
  await carry(to);
  expect(await to.selectFrom("research_pictures").selectAll().execute()).toMatchObject([
    { ...picture, task_id: "open" },
  ]);
  expect(await to.selectFrom("research_files").selectAll().execute()).toMatchObject([{ task_id: "open", n: 1 }]);
  const outbox = await to.selectFrom("notification_outbox").select(["task_id", "kind"]).orderBy("outbox_id").execute();
  expect(outbox).toEqual([
    { task_id: "there", kind: "completed" },
    { task_id: "open", kind: "completed" },
  ]);
});

test("of the runs that a process started, the last hundred are remembered and carried over as they were (I8, P5)", async () => {
  const [from, to] = [await openDatabase(), await openDatabase()];
  const started: RememberedRuns = new Map();
  for (let n = 0; n < 101; n += 1) {
    await insertRun(from, { task_id: `run ${n}`, status: "running_async" });
    await rememberRun(started, from, `run ${n}`);
  }
  await from.updateTable("research_tasks").set({ status: "completed" }).execute();
  await insertRun(to, { task_id: "run 5", status: "completed" });
  const carry = await carryOver({ db: undefined, mayBeOverwritten: true }, started);
  await carry(to);
  await carry(to);
  const runs = await to.selectFrom("research_tasks").select(["task_id", "status"]).execute();
  expect(runs).toHaveLength(100);
  expect(runs).not.toContainEqual(expect.objectContaining({ task_id: "run 0" }));
  expect(runs).toContainEqual({ task_id: "run 5", status: "completed" });
  expect(runs).toContainEqual({ task_id: "run 6", status: "running_async" });
});

test("a run that this process started is carried over although the old file reads as the backup (I8, P5)", async () => {
  const [from, to] = [await openDatabase(), await openDatabase()];
  const started: RememberedRuns = new Map();
  await insertRun(from, { task_id: "new", status: "running_async", interaction_id: "v1_new" });
  await insertRun(from, { task_id: "approved", interaction_id: "v1_research", updated_at: 20 });
  await insertRun(from, { task_id: "restarted", interaction_id: "v1_first", updated_at: 20 });
  for (const id of ["new", "approved", "restarted"]) await rememberRun(started, from, id);
  await insertRun(to, { task_id: "approved", status: "awaiting_approval", interaction_id: "v1_plan", updated_at: 10 });
  await insertRun(to, { task_id: "restarted", interaction_id: "v1_second", updated_at: 30 });
  await insertRun(to, { task_id: "ended", status: "completed" });
  await (
    await carryOver({ db: to, mayBeOverwritten: true }, started)
  )(to);
  const runs = to.selectFrom("research_tasks").select(["task_id", "status", "interaction_id"]).orderBy("task_id");
  expect(await runs.execute()).toEqual([
    { task_id: "approved", status: "running_async", interaction_id: "v1_research" },
    { task_id: "ended", status: "completed", interaction_id: "v1_ended" },
    { task_id: "new", status: "running_async", interaction_id: "v1_new" },
    { task_id: "restarted", status: "running_async", interaction_id: "v1_second" },
  ]);
});

test("a carried-over follow-up keeps its parent where the new file has it (I8, V2)", async () => {
  const [from, to] = [await openDatabase(), await openDatabase()];
  const remembered: RememberedRuns = new Map();
  const known = { task_id: "known", parent_task_id: "finished", created_at: 3 };
  const followUps = [
    known,
    { task_id: "new", parent_task_id: "finished", created_at: 3 },
    { task_id: "of an open run", parent_task_id: "open", created_at: 2 },
    { task_id: "of a lost run", parent_task_id: "lost", created_at: 3 },
  ];
  for (const task_id of ["finished", "lost"]) await insertRun(from, { task_id, status: "completed", created_at: 0 });
  await insertRun(from, { task_id: "open", created_at: 1 });
  for (const followUp of followUps) await insertRun(from, { ...followUp, updated_at: 20 });
  for (const id of ["of an open run", "known", "new", "of a lost run", "open"]) await rememberRun(remembered, from, id);
  await insertRun(to, { task_id: "finished", status: "completed", created_at: 0 });
  await insertRun(to, { ...known, status: "pending", interaction_id: null, updated_at: 10 });
  await (
    await carryOver({ db: undefined, mayBeOverwritten: true }, remembered)
  )(to);
  const rows = to.selectFrom("research_tasks").select(["task_id", "parent_task_id", "status"]).orderBy("task_id");
  const open = { status: "running_async" };
  expect(await rows.where("parent_task_id", "is not", null).execute()).toEqual([
    { task_id: "known", parent_task_id: "finished", ...open },
    { task_id: "new", parent_task_id: "finished", ...open },
    { task_id: "of an open run", parent_task_id: "open", ...open },
  ]);
  expect(await rows.where("task_id", "=", "of a lost run").execute()).toMatchObject([
    { parent_task_id: null, ...open },
  ]);
});

test("an open run is remembered with its last interaction until it has ended, whichever process started it (I8, P5)", async () => {
  const db = await openDatabase();
  const remembered: RememberedRuns = new Map();
  const ids = async (): Promise<string[]> => {
    await updateRemembered(remembered, db);
    const found = [...remembered.values()].map(({ run }) => run.interaction_id ?? "none");
    // Its interaction is paid for, whatever the rest of its row contains.
    expect(found).toContain("v1_damaged");
    return found.filter((id) => id !== "v1_damaged").toSorted();
  };
  const change = (task_id: string, values: Partial<Updateable<Tables["research_tasks"]>>) =>
    db.updateTable("research_tasks").set(values).where("task_id", "=", task_id).execute();
  await insertRun(db, { task_id: "planned", status: "awaiting_approval", interaction_id: "v1_plan", updated_at: 2 });
  await insertRun(db, { task_id: "damaged" });
  await sql`update research_tasks set tokens_input = 9007199254740993 where task_id = 'damaged'`.execute(db);
  await insertRun(db, { task_id: "not accepted", status: "pending", interaction_id: null });
  await insertRun(db, { task_id: "ended", status: "completed" });
  expect(await ids()).toEqual(["v1_plan"]);
  await change("planned", { status: "running_async", interaction_id: "v1_research", updated_at: 3 });
  expect(await ids()).toEqual(["v1_research"]);
  // Of a backup that was copied over the file.
  await change("planned", { status: "awaiting_approval", interaction_id: "v1_plan", updated_at: 2 });
  expect(await ids()).toEqual(["v1_research"]);
  const remove = () => db.deleteFrom("research_tasks").where("task_id", "=", "planned").execute();
  await remove();
  expect(await ids()).toEqual(["v1_research"]);
  // Google has not confirmed that it stopped.
  await insertRun(db, { task_id: "planned", status: "cancelled", next_poll_at: 5 });
  expect(await ids()).toEqual(["v1_research"]);
  await change("planned", { next_poll_at: null });
  expect(await ids()).toEqual([]);
  await change("planned", { status: "running_async", interaction_id: "v1_third" });
  expect(await ids()).toEqual(["v1_third"]);
  await remove();
  for (let sweeps = 1; sweeps < 12; sweeps += 1) expect(await ids()).toEqual(["v1_third"]);
  expect(await ids()).toEqual([]);
});

test("a started run is remembered at once, and a sweep forgets it when it has ended (I8, P5)", async (context) => {
  const stage = await openRunner(context);
  const deps = stage.deps();
  const { taskId, ...started } = await startResearch(deps, { ...request, forceNew: true });
  if (started.kind === "started") await started.sending;
  expect([...deps.rememberedRuns.keys()]).toEqual([taskId]);
  await stage.store.db.updateTable("research_tasks").set({ status: "completed", next_poll_at: null }).execute();
  const ignored = async (): Promise<void> => {};
  await sweep({ deps, repairPolls: ignored, deliver: ignored, savedToFile: new Set() }, { checkFigures: false });
  expect(deps.rememberedRuns.size).toBe(0);
});
