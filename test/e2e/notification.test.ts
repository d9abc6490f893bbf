import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test, type TestContext } from "vitest";
import { createDesktopNotifier, notificationFor, sanitizeNotification } from "../../src/notifications/desktop.ts";
import { createOutboxSender, enqueue } from "../../src/notifications/outbox.ts";
import { runChild } from "../../src/platform/child.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { HOSTILE_TEXTS, MARKER } from "../kit/hostile/texts.ts";
import {
  notificationDesktop,
  type NotificationDaemon,
  startNotificationDaemon,
} from "../kit/services/notification-daemon.ts";
import { openResearch, SLOW, startRun, untilStatus } from "../kit/server/research.ts";
import { temporaryDirectory } from "../kit/server/server.ts";
import { createTestLog } from "../kit/log.ts";

const desktop = await notificationDesktop();

const TASK_ID = "1b4e28ba-2fa1-41d2-883f-0016d3cca427";
/** O1, R6. */
const CEILING_MS = 2_000;

function notifier(environment: Record<string, string>) {
  const lines: string[] = [];
  const log = createTestLog((line) => lines.push(line));
  const path = process.env["PATH"] ?? "";
  const { notify } = createDesktopNotifier({
    platform: process.platform,
    environment: { PATH: path, ...environment },
    log,
    run: runChild,
  });
  return { notify, lines, log };
}

async function openTestStore({ onTestFinished }: Pick<TestContext, "onTestFinished">): Promise<Store> {
  const directory = temporaryDirectory();
  const { log } = notifier({});
  const store = await openStore({ file: join(directory, "deep_research.db"), clock: systemClock, log });
  onTestFinished(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return store;
}

const arrived = async (daemon: NotificationDaemon, count: number, timeout = 5_000) => {
  await expect.poll(() => daemon.received().length, { timeout, interval: 5 }).toBe(count);
  return daemon.received();
};

test.skipIf(desktop === "missing")(
  "a recorded completion and a recorded failure appear once on a real desktop (O1, R6)",
  async (t) => {
    const daemon = await startNotificationDaemon(t);
    const { db, processId } = await openTestStore(t);
    const { notify, log, lines } = notifier(daemon.environment);
    const sender = createOutboxSender({ db, processId, clock: systemClock, log, notify });
    await sql`insert into research_tasks (task_id, kind, query, created_at, updated_at)
      values (${TASK_ID}, 'agent', 'a question', 0, 0)`.execute(db);
    const end = (outcome: "completed" | "failed", reason?: string) =>
      db.transaction().execute((transaction) =>
        enqueue(transaction, {
          taskId: TASK_ID,
          channel: "desktop",
          kind: outcome,
          payload: notificationFor({ taskId: TASK_ID, outcome, durationMs: 720_000, reason }),
          now: Date.now(),
        }),
      );

    await end("completed");
    expect(await sender.deliverPending()).toBe(1);
    const [first] = await arrived(daemon, 1);
    expect(first).toMatchObject({
      appName: "gemini-search-mcp",
      title: "Deep Research Complete",
      body: "1b4e28ba: finished in 12 min",
      urgency: "NORMAL",
    });

    await end("completed");
    await end("failed", "Google reported that the research failed.");
    expect(await sender.deliverPending()).toBe(1);
    const [, second] = await arrived(daemon, 2);
    expect(second).toMatchObject({
      title: "Deep Research Failed",
      body: "1b4e28ba: Google reported that the research failed.",
    });
    expect(lines).toEqual([]);
  },
);

test.skipIf(desktop === "missing")(
  "a research that ends while three servers are open is announced once on a real desktop (O1, O2)",
  async (t) => {
    const daemon = await startNotificationDaemon(t);
    const scene = await openResearch(t, {});
    const servers = await Promise.all([1, 2, 3].map(() => scene.server({ env: daemon.environment })));
    const [first] = servers;
    if (first === undefined) throw new Error("No server was started.");
    const taskId = await startRun(first);
    await untilStatus(first, taskId, "completed");
    const [notification] = await arrived(daemon, 1);
    expect(notification).toMatchObject({ appName: "gemini-search-mcp", title: "Deep Research Complete" });
    expect(notification?.body).toMatch(new RegExp(`^${taskId.slice(0, 8)}: finished in \\d+ s$`));
    // Time for the other two to find it, if they did.
    await systemClock.sleep(500);
    expect(daemon.received()).toHaveLength(1);
  },
);

const WINDOW = { RESEARCH_SYNC_WINDOW_MS: "20000" };

test.skipIf(desktop === "missing")(
  "an end that the start call itself returns raises no notification, whichever server records it (I4, O1)",
  async (t) => {
    const daemon = await startNotificationDaemon(t);
    const scene = await openResearch(t, {});
    const env = { ...daemon.environment, ...WINDOW };
    const [first] = await Promise.all([1, 2].map(() => scene.server({ env })));
    const report = await first?.call("start_deep_research", { query: "Does the report come within the call?" });
    expect(report?.structured).toMatchObject({ success: true, status: "completed", mode: "sync" });
    scene.play({ status: "failed", duration_ms: 0 });
    const failure = await first?.call("start_deep_research", { query: "Does the failure come within the call?" });
    expect(failure?.structured).toMatchObject({ success: false, error: { code: "RESEARCH_FAILED" } });
    await systemClock.sleep(CEILING_MS);
    expect(daemon.received()).toEqual([]);
    expect(scene.sql("select * from notification_outbox")).toEqual([]);
  },
);

test.skipIf(desktop === "missing")(
  "a research that ends after the sync window is announced, even if its caller was killed (O1)",
  async (t) => {
    const daemon = await startNotificationDaemon(t);
    const scene = await openResearch(t, { speed: 400 });
    const server = await scene.server({ env: { ...daemon.environment, RESEARCH_SYNC_WINDOW_MS: "300" } });
    const taskId = await startRun(server);
    await untilStatus(server, taskId, "completed");
    const [first] = await arrived(daemon, 1);
    expect(first?.body).toContain(taskId.slice(0, 8));

    // About five seconds of research, within which the caller's server is killed.
    scene.play({ speed: 100 });
    const caller = await scene.server({ env: { ...daemon.environment, ...WINDOW } });
    void caller.call("start_deep_research", { query: "Who hears of it?" }).catch(() => undefined);
    const running = "select task_id from research_tasks where status = 'running_async'";
    await expect.poll(() => scene.sql(running), { interval: 25 }).toHaveLength(1);
    process.kill(caller.pid, "SIGKILL");
    const [, second] = await arrived(daemon, 2, 20_000);
    expect(second?.title).toBe("Deep Research Complete");
    const [run] = scene.sql<{ task_id: string; mode: string }>(
      "select task_id, mode from research_tasks where query = 'Who hears of it?'",
    );
    expect(run?.mode).toBe("async");
    expect(second?.body).toContain(run?.task_id.slice(0, 8));
  },
);

test.skipIf(desktop === "missing")(
  "a research that ends while no process is open is announced when the next one collects it (O3)",
  async (t) => {
    const daemon = await startNotificationDaemon(t);
    const scene = await openResearch(t, SLOW);
    const first = await scene.server({ env: daemon.environment });
    const taskId = await startRun(first);
    await first.close();
    scene.gemini.skip(8 * 60_000);
    expect(daemon.received()).toEqual([]);
    const next = await scene.server({ env: daemon.environment });
    await untilStatus(next, taskId, "completed");
    const [notification] = await arrived(daemon, 1);
    expect(notification).toMatchObject({ title: "Deep Research Complete" });
    expect(notification?.body).toContain(taskId.slice(0, 8));
  },
);

test.skipIf(desktop === "missing")(
  "the session bus is found when the client passes on no session variables (O1)",
  async (t) => {
    const daemon = await startNotificationDaemon(t);
    const { notify } = notifier({ XDG_RUNTIME_DIR: daemon.runtimeDirectory });
    expect(await notify({ title: "Deep Research Complete", body: "größe 京都" })).toBe("shown");
    expect((await arrived(daemon, 1))[0]?.body).toBe("größe 京都");
  },
);

test.skipIf(desktop === "missing")("40 hostile texts arrive unchanged and execute nothing (O2, T22)", async (t) => {
  const daemon = await startNotificationDaemon(t);
  const { notify } = notifier(daemon.environment);
  for (const text of HOSTILE_TEXTS) expect(await notify({ title: text, body: text })).toBe("shown");
  const received = await arrived(daemon, HOSTILE_TEXTS.length);
  expect(received.map(({ title, body }) => ({ title, body: fromMarkup(body) }))).toEqual(
    HOSTILE_TEXTS.map((text) => sanitizeNotification({ title: text, body: text })),
  );
  for (const { body, urgency } of received) {
    expect(body).not.toMatch(/[<>]/);
    expect(urgency).toBe("NORMAL");
  }
  expect(existsSync(MARKER)).toBe(false);
});

test.skipIf(desktop === "missing")("a missing session bus is one log line, not an error (O1)", async () => {
  const { notify, lines } = notifier({ DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus" });
  expect(await notify({ title: "Deep Research Complete", body: "1b4e28ba: finished in 12 min" })).toBe("unavailable");
  expect(lines).toEqual([
    "[INFO] Deep Research Complete (1b4e28ba: finished in 12 min). No desktop notification: notify-send ended with exit code 1.\n",
  ]);
});

const fromMarkup = (markup: string): string =>
  markup.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
