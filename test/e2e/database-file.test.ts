/** The database file is removed or replaced under a running server: nothing is paid for that would not be stored. */

import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
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
import type { RunningServer } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const START = "start_deep_research";
const OTHER_QUERY = "How do solar panels perform in deserts?";

const fileOf = ({ configDir }: ResearchScene): string => join(configDir, "deep_research.db");

/** Calls `act` with the paths of the database, its write-ahead log and the index of the log. */
const onEachFile = (scene: ResearchScene, suffixes: string[], act: (path: string) => void): void =>
  suffixes.map((suffix) => fileOf(scene) + suffix).forEach(act);

const ALL = ["", "-wal", "-shm"];
const LOG = ["-wal", "-shm"];

/** A whole copy of the database as it is now. */
function backUp(scene: ResearchScene): string {
  const copy = join(scene.configDir, "backup.db");
  const database = new DatabaseSync(fileOf(scene), { timeout: 5_000 });
  database.prepare("vacuum into ?").run(copy);
  database.close();
  return copy;
}

async function expectRefusedStart(server: RunningServer): Promise<void> {
  const { structured } = await server.call(START, { query: OTHER_QUERY });
  expect(structured).toMatchObject({
    success: false,
    error: {
      code: "SQLITE_ERROR",
      message: expect.stringContaining("was removed or replaced while it was open"),
      suggestion: expect.stringContaining("Restart"),
    },
  });
}

describe.concurrent("the database file", () => {
  test("removed: a start is refused unsent, reads and searches are answered, and a restart creates a new file (I8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const taskId = await startRun(server);
    onEachFile(scene, ALL, (path) => rmSync(path, { force: true }));
    await expectRefusedStart(server);
    expect(scene.posts()).toBe(1);
    expect(await statusOf(server, taskId)).toMatchObject({ status: "running_async" });
    expect(server.stderr()).toContain("was removed or replaced while it was open");
    // A search needs no database; it is answered and not stored.
    expect((await server.call("search", { query: QUERY })).structured).toMatchObject({ success: true });
    await startRun(await scene.server(), OTHER_QUERY);
    await expectRefusedStart(server);
    expect(scene.posts()).toBe(2);
  });

  test("replaced by an older copy: a start is refused unsent, and a restart uses the copy (I8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const taskId = await startRun(server);
    const copy = backUp(scene);
    onEachFile(scene, LOG, (path) => rmSync(path));
    renameSync(copy, fileOf(scene));
    await expectRefusedStart(server);
    expect(scene.posts()).toBe(1);
    const other = await scene.server();
    expect((await other.call(START, { query: QUERY })).structured).toMatchObject({ joined: true, task_id: taskId });
    expect(scene.sql("pragma integrity_check")[0]).toEqual({ integrity_check: "ok" });
  });

  test("moved away while a start is being sent: its id is saved in orphans.jsonl and imported when the file is back (I8)", async (context) => {
    const scene = await openResearch(context);
    const server = await scene.server();
    await server.call("list_research", {});
    scene.play({ speed: 1_000, create: [{ latency_ms: 1_500 }] });
    const starting = server.call(START, { query: QUERY });
    await waitFor(() => expect(scene.posts()).toBe(1));
    onEachFile(scene, ALL, (path) => renameSync(path, `${path}.aside`));
    const { structured } = await starting;
    expect(readFileSync(join(scene.configDir, "orphans.jsonl"), "utf8")).toContain("v1_");
    onEachFile(scene, ALL, (path) => renameSync(`${path}.aside`, path));
    await untilStatus(server, structured["task_id"], "completed");
    expect(scene.posts()).toBe(1);
    await waitFor(() => expect(existsSync(join(scene.configDir, "orphans.jsonl"))).toBe(false));
  });

  test("restored in place without its log: pages of the old log do not destroy it when the server exits (P5)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    await server.call("list_research", {});
    const copy = backUp(scene);
    const database = new DatabaseSync(copy);
    database.exec("create table more (text); insert into more values (zeroblob(400000)), (zeroblob(400000))");
    database.close();
    await startRun(server);
    copyFileSync(copy, fileOf(scene));
    onEachFile(scene, LOG, (path) => rmSync(path));
    // What is read is a mixture of both databases, which SQLite may notice first.
    const { structured } = await server.call(START, { query: OTHER_QUERY });
    expect(structured).toMatchObject({ success: false, error: { code: "SQLITE_ERROR" } });
    expect(scene.posts()).toBe(1);
    await server.close();
    expect(scene.sql("pragma integrity_check")[0]).toEqual({ integrity_check: "ok" });
    expect(scene.sql("select sum(length(text)) as bytes from more")).toEqual([{ bytes: 800_000 }]);
  });
});
