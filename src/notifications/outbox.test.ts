import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test, type TestContext } from "vitest";
import { COMPILE_CACHE } from "../../test/kit/server/server.ts";
import { sharedFor } from "../../test/kit/store/databases.ts";
import { systemClock } from "../platform/clock.ts";
import type { Database } from "../store/database.ts";
import { openStore, type Store } from "../store/store.ts";
import type { Notification } from "./desktop.ts";
import { claimNext, createOutboxSender, enqueue, markSent } from "./outbox.ts";
import { createTestLog } from "../../test/kit/log.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let directory: string;
let store: Store;
let shared: Awaited<ReturnType<typeof sharedFor>>;
let lines: string[];
const log = createTestLog((line) => lines.push(line));
const databaseFile = (): string => join(directory, "deep_research.db");

beforeEach(async () => {
  lines = [];
  directory = mkdtempSync(join(tmpdir(), "gemini-search-outbox-"));
  shared = await sharedFor(databaseFile());
  store = await openStore({ file: databaseFile(), shared, clock: systemClock, log });
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

async function newRun(db: Database = store.db): Promise<string> {
  const taskId = randomUUID();
  await sql`insert into research_tasks (task_id, kind, query, created_at, updated_at)
    values (${taskId}, 'agent', 'a question', 0, 0)`.execute(db);
  return taskId;
}

const put = (taskId: string, kind: "completed" | "failed" = "completed", now = Date.now()): Promise<void> =>
  store.db.transaction().execute((transaction) => enqueue(transaction, entry(taskId, kind, now)));

const entry = (taskId: string, kind: "completed" | "failed", now: number) => ({
  taskId,
  channel: "desktop" as const,
  kind,
  payload: { title: kind, body: taskId },
  now,
});

const putMany = (count: number): Promise<string[]> =>
  store.db.transaction().execute(async (transaction) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const taskId = await newRun(transaction);
      await enqueue(transaction, entry(taskId, "completed", Date.now()));
      ids.push(taskId);
    }
    return ids;
  });

const claim = (processId: string) => claimNext(store.db, { processId, now: 5 });

const rows = () => store.db.selectFrom("notification_outbox").selectAll().orderBy("outbox_id").execute();

function sender(signal?: AbortSignal) {
  const shown: Notification[] = [];
  const { deliverPending } = createOutboxSender({
    db: store.db,
    processId: store.processId,
    clock: systemClock,
    log,
    notify: async (notification) => shown.push(notification),
    signal,
  });
  return { shown, deliverPending };
}

describe("the outbox", () => {
  test("stores a notification once, and only with the transaction that enqueues it (O2)", async () => {
    const taskId = await newRun();
    await put(taskId);
    await put(taskId);
    await put(taskId, "failed");
    const other = await newRun();
    const failing = store.db.transaction().execute(async (transaction) => {
      await enqueue(transaction, entry(other, "failed", 1));
      throw new Error("the run could not be ended");
    });
    await expect(failing).rejects.toThrow("could not be ended");
    expect((await rows()).map(({ task_id, kind }) => [task_id, kind])).toEqual([
      [taskId, "completed"],
      [taskId, "failed"],
    ]);
  });

  test("gives each row to one process, oldest first, which alone marks it as sent", async () => {
    const [first, second] = await putMany(2);
    const claimed = await claim("a");
    expect([claimed?.taskId, (await claim("b"))?.taskId, await claim("c")]).toEqual([first, second, undefined]);
    const outboxId = claimed?.outboxId ?? 0;
    await markSent(store.db, { outboxId, processId: "b", now: 7 });
    expect((await rows())[0]).toMatchObject({ claimed_by: "a", claimed_at: 5, sent_at: null });
    await markSent(store.db, { outboxId, processId: "a", now: 7 });
    expect((await rows())[0]?.sent_at).toBe(7);
  });

  test("leaves rows of an unknown channel alone", async () => {
    await put(await newRun());
    await sql`update notification_outbox set channel = 'webhook'`.execute(store.db);
    expect(await claim("a")).toBeUndefined();
  });
});

describe("the sender", () => {
  test("sends each pending notification once, in order", async () => {
    const ids = await putMany(3);
    const { shown, deliverPending } = sender();
    const delivered = await Promise.all([deliverPending(), deliverPending()]);
    expect(delivered.reduce((sum, count) => sum + count)).toBe(3);
    expect(shown).toEqual(ids.map((body) => ({ title: "completed", body })));
    expect(await deliverPending()).toBe(0);
    for (const row of await rows())
      expect(row).toMatchObject({ claimed_by: store.processId, sent_at: expect.any(Number) });
  });

  test("drops notifications older than 7 days, with one log line each", async () => {
    const [old, recent] = [await newRun(), await newRun()];
    await put(old, "completed", Date.now() - 7 * DAY_MS - 1_000);
    await put(recent, "failed", Date.now() - 7 * DAY_MS + 60_000);
    const { shown, deliverPending } = sender();
    expect(await deliverPending()).toBe(1);
    expect(await deliverPending()).toBe(0);
    expect(shown).toEqual([{ title: "failed", body: recent }]);
    expect(lines).toEqual([`[INFO] The notification for run ${old} is more than 7 days old and is not shown.\n`]);
    expect((await rows())[0]?.sent_at).toBeNull();
  });

  test("claims nothing during a shutdown (A8)", async () => {
    await putMany(2);
    const leaving = sender(AbortSignal.abort());
    expect(await leaving.deliverPending()).toBe(0);
    expect(await sender().deliverPending()).toBe(2);
  });
});

/**
 * A process that notifies by writing lines to a file and prints the number delivered. Waits for a line on stdin, so
 * that all start at once.
 */
function startSender(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  { before = "", after = "" }: { before?: string; after?: string } = {},
): ChildProcessWithoutNullStreams {
  const source = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    import { appendFileSync } from "node:fs";
    import { setTimeout as delay } from "node:timers/promises";
    import { openStore } from ${source("../store/store.ts")};
    import { systemClock as clock } from ${source("../platform/clock.ts")};
    import { createOutboxSender } from ${source("./outbox.ts")};
    const log = { debug() {}, info() {}, warn: console.error, error: console.error };
    const { db, processId, close } = await openStore({ file: ${JSON.stringify(databaseFile())}, shared: ${JSON.stringify(shared)}, clock, log });
    const notify = async ({ body }) => {
      ${before}
      appendFileSync(${JSON.stringify(join(directory, "sent"))}, body + "\\n");
      ${after}
    };
    process.stdout.write("ready\\n");
    await new Promise((resolve) => process.stdin.once("data", resolve));
    const delivered = await createOutboxSender({ db, processId, clock, log, notify }).deliverPending();
    await close();
    process.stdout.write(delivered + "\\n", () => process.exit());`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  child.stderr.pipe(process.stderr);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const sent = (): string[] => {
  const file = join(directory, "sent");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
};

/** The next line that the process prints. */
const nextLine = async (child: ChildProcessWithoutNullStreams): Promise<string> => {
  const [chunk] = await once(child.stdout, "data");
  return String(chunk).trim();
};

async function kill(child: ChildProcessWithoutNullStreams): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

const PRINT_AND_HANG = 'process.stdout.write("here\\n"); await delay(60_000);';

describe("several processes", () => {
  test("that race for 200 notifications, three of them, send each exactly once (O2, R2)", async (t) => {
    const ids = await putMany(200);
    const children = [1, 2, 3].map(() => startSender(t, { after: "await delay(2);" }));
    await Promise.all(children.map(nextLine));
    const counts = Promise.all(children.map(nextLine));
    for (const child of children) child.stdin.write("go\n");
    const delivered = (await counts).map(Number);
    expect(delivered.reduce((sum, count) => sum + count)).toBe(200);
    // Otherwise there was no race.
    for (const count of delivered) expect(count).toBeGreaterThan(0);
    expect(sent().sort()).toEqual(ids.sort());
    expect((await rows()).every(({ sent_at }) => sent_at !== null)).toBe(true);
  });

  test.for([
    { where: "between claim and send", place: { before: PRINT_AND_HANG }, sentBefore: 0 },
    { where: "between send and its record", place: { after: PRINT_AND_HANG }, sentBefore: 1 },
  ])(
    "do not repeat a notification after a kill -9 $where, and send the others (O2)",
    async ({ place, sentBefore }, t) => {
      const ids = await putMany(5);
      const child = startSender(t, place);
      await nextLine(child);
      child.stdin.write("go\n");
      expect(await nextLine(child)).toBe("here");
      await kill(child);
      expect(sent()).toEqual(ids.slice(0, sentBefore));
      const { shown, deliverPending } = sender();
      expect(await deliverPending()).toBe(4);
      expect(shown.map(({ body }) => body)).toEqual(ids.slice(1));
      expect((await rows())[0]).toMatchObject({ claimed_at: expect.any(Number), sent_at: null });
    },
  );

  test(
    "killed at any moment, 10 times, send none twice and lose at most one per kill (O2, R2)",
    { timeout: 180_000 },
    async (t) => {
      const ids = await putMany(200);
      for (let killed = 0; killed < 10; killed += 1) {
        const child = startSender(t);
        await nextLine(child);
        child.stdin.write("go\n");
        await systemClock.sleep(Math.random() * 30);
        await kill(child);
      }
      const { shown, deliverPending } = sender();
      await deliverPending();
      const all = [...sent(), ...shown.map(({ body }) => body)];
      expect(new Set(all).size).toBe(all.length);
      expect(all.length).toBeGreaterThanOrEqual(ids.length - 10);
    },
  );
});
