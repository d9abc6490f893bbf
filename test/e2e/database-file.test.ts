/** The database file is removed or replaced under a running server: nothing paid is lost or paid twice. */

import { copyFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import {
  openResearch,
  QUERY,
  type ResearchScene,
  SLOW,
  startRun,
  statusOf,
  untilStatus,
} from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

const START = "start_deep_research";
const OTHER_QUERY = "How do solar panels perform in deserts?";

const fileOf = ({ configDir }: ResearchScene): string => join(configDir, "deep_research.db");

function removeFiles(scene: ResearchScene, suffixes: string[]): void {
  for (const suffix of suffixes) rmSync(fileOf(scene) + suffix, { force: true });
}

/** A whole copy of the database as it is now. */
function backUp(scene: ResearchScene): string {
  const copy = join(scene.configDir, "backup.db");
  const database = new DatabaseSync(fileOf(scene), { timeout: 5_000 });
  database.prepare("vacuum into ?").run(copy);
  database.close();
  return copy;
}

/** More than the live file has: pages of its log would no longer fit. */
function addPages(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("create table more (text); insert into more values (zeroblob(400000)), (zeroblob(400000))");
  database.close();
}

const integrityOf = (scene: ResearchScene): unknown => scene.sql("pragma integrity_check")[0];

describe.concurrent("the database file", () => {
  test("removed: a start is refused unsent, reads are answered, and a new file gets the unfinished run (I8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const taskId = await startRun(server);
    removeFiles(scene, ["", "-wal", "-shm"]);
    const refused = await server.call(START, { query: OTHER_QUERY });
    expect(refused.structured).toMatchObject({
      success: false,
      error: { code: "SQLITE_ERROR", message: expect.stringContaining("was removed while it was open") },
    });
    expect(scene.posts()).toBe(1);
    expect(await statusOf(server, taskId)).toMatchObject({ status: "running_async" });
    expect(server.stderr()).toContain("was removed while it was open");
    // A search needs no database; it is answered and not stored.
    expect((await server.call("search", { query: QUERY })).structured).toMatchObject({ success: true });
    // Another process begins with a new file.
    await scene.command(["list-research"]);
    const second = await startRun(server, OTHER_QUERY);
    const other = await scene.server();
    for (const id of [taskId, second]) expect(await statusOf(other, id)).toMatchObject({ status: "running_async" });
    expect((await other.call(START, { query: QUERY })).structured).toMatchObject({ joined: true, task_id: taskId });
    expect(scene.posts()).toBe(2);
  });

  test("replaced by an older copy: the server opens it, and the same question elsewhere is not paid again (I8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    await startRun(server, OTHER_QUERY);
    const copy = backUp(scene);
    const taskId = await startRun(server);
    removeFiles(scene, ["-wal", "-shm"]);
    renameSync(copy, fileOf(scene));
    const third = await startRun(server, "Which heat pump is the quietest?");
    expect(server.stderr()).toContain("was replaced while it was open");
    const other = await scene.server();
    expect((await other.call(START, { query: QUERY })).structured).toMatchObject({ joined: true, task_id: taskId });
    expect(await statusOf(other, third)).toMatchObject({ status: "running_async" });
    expect(scene.posts()).toBe(3);
    expect(integrityOf(scene)).toEqual({ integrity_check: "ok" });
  });

  test("replaced while a start is being sent: its id is kept, and the run is polled to its end (I8)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    await server.call("list_research", {});
    const copy = backUp(scene);
    scene.play({ speed: 1_000, create: [{ latency_ms: 1_500 }] });
    const starting = server.call(START, { query: QUERY });
    await expect.poll(() => scene.posts()).toBe(1);
    removeFiles(scene, ["-wal", "-shm"]);
    renameSync(copy, fileOf(scene));
    const { structured } = await starting;
    await untilStatus(server, structured["task_id"], "completed");
    const other = await scene.server();
    expect(await statusOf(other, structured["task_id"])).toMatchObject({ status: "completed" });
    expect(scene.posts()).toBe(1);
  });

  test("without its write-ahead log: rows that only the log contained are kept, and work continues in a new log (I8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const taskId = await startRun(server);
    removeFiles(scene, ["-wal", "-shm"]);
    const second = await startRun(server, OTHER_QUERY);
    const other = await scene.server();
    for (const id of [taskId, second]) expect(await statusOf(other, id)).toMatchObject({ status: "running_async" });
    expect(integrityOf(scene)).toEqual({ integrity_check: "ok" });
  });

  test("restored in place: pages of the old log do not destroy the restored file (P5)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    await server.call("list_research", {});
    const copy = backUp(scene);
    addPages(copy);
    const taskId = await startRun(server);
    copyFileSync(copy, fileOf(scene));
    removeFiles(scene, ["-wal", "-shm"]);
    const second = await startRun(server, OTHER_QUERY);
    expect(integrityOf(scene)).toEqual({ integrity_check: "ok" });
    expect(scene.sql("select sum(length(text)) as bytes from more")).toEqual([{ bytes: 800_000 }]);
    const other = await scene.server();
    for (const id of [taskId, second]) expect(await statusOf(other, id)).toMatchObject({ status: "running_async" });
  });

  test("restored in place after a checkpoint: nothing of it can be read any more, but the server keeps its run (I8, P5)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    await server.call("list_research", {});
    const copy = backUp(scene);
    // More than SQLite keeps in memory.
    scene.sql("create table formerly (text)");
    scene.sql("insert into formerly values (zeroblob(5000000))");
    const { mtimeMs } = statSync(fileOf(scene));
    const taskId = await startRun(server);
    await waitFor(() => expect(statSync(fileOf(scene)).mtimeMs).toBeGreaterThan(mtimeMs));
    // Answered after the checkpoint has ended.
    await statusOf(server, taskId);
    copyFileSync(copy, fileOf(scene));
    removeFiles(scene, ["-wal", "-shm"]);
    const second = await startRun(server, OTHER_QUERY);
    expect(server.stderr()).toContain("Unfinished runs were carried over");
    expect(integrityOf(scene)).toEqual({ integrity_check: "ok" });
    const other = await scene.server();
    for (const id of [taskId, second]) expect(await statusOf(other, id)).toMatchObject({ status: "running_async" });
    expect((await other.call(START, { query: QUERY })).structured).toMatchObject({ joined: true, task_id: taskId });
    expect(scene.posts()).toBe(2);
  });

  test("restored in place and read before its log is removed: it stays as it was restored (P5)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    await server.call("list_research", {});
    const copy = backUp(scene);
    addPages(copy);
    const taskId = await startRun(server);
    copyFileSync(copy, fileOf(scene));
    await server.call("list_research", {});
    removeFiles(scene, ["-wal", "-shm"]);
    await startRun(server, OTHER_QUERY);
    expect(integrityOf(scene)).toEqual({ integrity_check: "ok" });
    expect(scene.sql("select sum(length(text)) as bytes from more")).toEqual([{ bytes: 800_000 }]);
    expect(await statusOf(await scene.server(), taskId)).toMatchObject({ status: "running_async" });
    expect(server.stderr()).toContain("its log was removed. The contents of the log are");
  });
});
