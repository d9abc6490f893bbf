/** Another program locks the database for writing: reads are answered, writes wait, and the server does not freeze. */

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { holdWriteLock } from "../kit/store/write-lock.ts";
import { openPageServer } from "../kit/browser/page-api.ts";
import { openResearch, QUERY, SLOW, startRun, statusOf, untilStatus } from "../kit/server/research.ts";
import { withoutWaiting } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const LOCKED_MS = 10_000;

/** Calls repeatedly until the lock is free; returns the number of calls that were answered before. */
async function answeredMeanwhile(free: Promise<void>, call: () => Promise<unknown>): Promise<number> {
  const lock = { held: true };
  const freed = free.finally(() => (lock.held = false));
  let answered = 0;
  while (lock.held) {
    await call();
    if (lock.held) answered += 1;
    await sleep(20);
  }
  await freed;
  return answered;
}

describe.concurrent("a write lock of another program", () => {
  test("held for 10 s: reads are answered meanwhile, and a start, which gives a sign of life first, is sent once the lock is released (J1, P5, G8)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const server = await scene.server();
    const taskId = await startRun(server);
    const free = holdWriteLock(scene.configDir, LOCKED_MS);
    const messages: string[] = [];
    const locked = free.then(() => [...messages]);
    const starting = server.call(
      "start_deep_research",
      { query: "How do solar panels perform in deserts?" },
      { onProgress: (message) => void messages.push(message) },
    );
    const answered = await answeredMeanwhile(free, async () =>
      expect(await statusOf(server, taskId)).toMatchObject({ status: "running_async" }),
    );
    expect(answered).toBeGreaterThan(0);
    const { structured } = await starting;
    expect(structured).toMatchObject({ success: true, status: "running_async" });
    // The run is not stored yet: only then is a message sent without its id.
    expect(await locked).toEqual([expect.stringMatching(/^Working \(\d+ s\)$/)]);
    expect(withoutWaiting(messages)[0]).toContain(`(run ${String(structured["task_id"]).slice(0, 8)})`);
    expect(scene.posts()).toBe(2);
  });

  test("held for 10 s: the first request of a user, whose last use is due to be stored, is answered meanwhile (A9, P5)", async (context) => {
    const scene = await openPageServer(context);
    const server = await scene.serve();
    const [ann, bob] = [await scene.tokenOf("ann"), await scene.tokenOf("bob")];
    expect((await server.get("/api/runs", bob)).status).toBe(200);
    const free = holdWriteLock(scene.configDir, LOCKED_MS);
    const answered = await answeredMeanwhile(free, async () =>
      expect((await server.get("/api/runs", ann)).status).toBe(200),
    );
    expect(answered).toBeGreaterThan(0);
    await waitFor(async () => expect((await scene.command(["token", "list"])).stdout).not.toMatch(/never/i));
  });

  test("held while a server starts: its first call waits without blocking the server (J1, P5)", async (context) => {
    const scene = await openResearch(context, SLOW);
    const first = await scene.server();
    const taskId = await startRun(first);
    const free = holdWriteLock(scene.configDir, LOCKED_MS);
    const server = await scene.server();
    const reading = statusOf(server, taskId);
    expect(await answeredMeanwhile(free, () => server.client.ping())).toBeGreaterThan(0);
    expect(await reading).toMatchObject({ status: "running_async" });
  });
});

test("a database that takes the intent of a start and refuses every later change: nothing is sent, and the answer says so (I5, P5)", async (context) => {
  const scene = await openResearch(context, SLOW);
  const server = await scene.server();
  await server.call("list_research", {});
  scene.sql("create trigger refuse before update on research_tasks begin select raise(abort, 'refused'); end");
  const { isError, structured } = await server.call("start_deep_research", { query: QUERY });
  expect([isError, structured]).toMatchObject([
    true,
    {
      status: "failed",
      error: { code: "SQLITE_ERROR", message: expect.stringContaining("not sent and nothing was charged") },
    },
  ]);
  expect(scene.posts()).toBe(0);
  scene.sql("drop trigger refuse");
  const { message } = structured["error"];
  expect(await untilStatus(server, structured["task_id"], "failed")).toMatchObject({ error: { message } });
});
