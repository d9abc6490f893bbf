import { expect, test, type TestContext } from "vitest";
import { openRunner } from "../../test/kit/store/runner.ts";
import { waitFor } from "../../test/kit/wait-for.ts";
import { DEFAULT_AGENT } from "../gemini/research-agent.ts";
import { headingOf } from "../runs/activity/activity.ts";
import { appendEvents } from "../runs/event-store.ts";
import { progressBySeen } from "../runs/history/run-estimate.ts";
import { currentOf } from "../runs/conversation-store.ts";
import { saveInteractionId } from "../runs/interaction-store.ts";
import { commitIntent } from "../runs/start/start-store.ts";
import { checkResearchStatus } from "./check-research-status.ts";
import type { Call, OperationDeps } from "./operation.ts";
import { perform } from "./perform.ts";

interface Watcher {
  taskId: string;
  db: OperationDeps["database"] extends () => Promise<infer Database> ? Database : never;
  /** Requests that the status call made besides reading. */
  asked: string[];
  /** Progress that was sent to the client. */
  sent: string[];
  /** Resolves once the call has read the run and waits. */
  waiting: Promise<void>;
  stop: AbortController;
  status(input?: object): Promise<{ structured: Record<string, unknown> }>;
}

interface World {
  agent?: () => Promise<unknown>;
  /** Stops the clock, so that no wait ends on its own. */
  frozen?: boolean;
  /** Time advances only by sleeping; called on each sleep. */
  onSleep?: (ms: number) => Promise<void>;
}

/** An unfinished run, and a clock that runs fifty times as fast. */
async function openWatcher(
  context: TestContext,
  { agent = async () => ({}), frozen = false, onSleep }: World = {},
): Promise<Watcher> {
  const stage = await openRunner(context);
  const { db, processId } = stage.store;
  const { clock, log } = stage.deps();
  const intent = await commitIntent(
    db,
    {
      owner: "local",
      query: "How deep is the lake?",
      agent: "deep-research-preview-04-2026",
      joinKey: "k",
      options: {},
      estimate: {},
      client: undefined,
      enableNotifications: false,
      maxWaitMs: 3_600_000,
      keyFingerprint: undefined,
      baseUrl: "",
      processId,
      now: clock.now(),
    },
    { join: false },
  );
  if (intent.kind !== "intended") throw new Error("not intended");
  await saveInteractionId(db, { attemptId: intent.attemptId, interactionId: "v1_x", now: clock.now() });
  const asked: string[] = [];
  const stop = new AbortController();
  const { promise: waiting, resolve } = Promise.withResolvers<void>();
  let slept = 0;
  const deps: Partial<OperationDeps> = {
    clock: {
      now: () => (frozen || onSleep !== undefined ? slept : clock.now()),
      monotonic: () => (frozen || onSleep !== undefined ? slept : clock.monotonic()),
      sleep: (ms, signal) => {
        resolve();
        if (onSleep === undefined) return clock.sleep(ms, signal);
        slept += ms;
        return onSleep(ms);
      },
    },
    log,
    database: async () => db,
    findRun: (owner, taskId) => currentOf(db, owner, taskId),
    backupOf: () => undefined,
    inBackground: (work) => void work,
    leaving: new AbortController().signal,
    agent: agent as OperationDeps["agent"],
    research: async () => {
      asked.push("research");
      const runner = { start: () => asked.push("start"), watch: () => () => {} };
      return { runner } as unknown as Awaited<ReturnType<OperationDeps["research"]>>;
    },
  };
  const sent: string[] = [];
  const progress = (message: string): void => void sent.push(message);
  const call: Call = { owner: "local", client: undefined, from: "here", signal: stop.signal, progress };
  return {
    taskId: intent.taskId,
    db,
    asked,
    sent,
    waiting,
    stop,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that this operation asks for
    status: (input = {}) =>
      perform(checkResearchStatus, deps as OperationDeps, { input: { task_id: intent.taskId, ...input }, call }),
  };
}

test("without wait_seconds only the store is read (J1)", async (context) => {
  const { status, asked } = await openWatcher(context);
  expect((await status()).structured).toMatchObject({ success: true, status: "running_async" });
  expect(asked).toEqual([]);
});

test.for<[string, (watcher: Watcher) => Promise<unknown>, object]>([
  [
    "status",
    ({ db }) => db.updateTable("research_tasks").set({ status: "failed", error_code: "X" }).execute(),
    { status: "failed" },
  ],
  [
    "progress by a tenth",
    ({ db }) => db.updateTable("research_tasks").set({ progress: 10 }).execute(),
    { progress: 10 },
  ],
  [
    "time without a sign of life beyond ten minutes",
    ({ db }) =>
      db
        .updateTable("research_tasks")
        .set({ last_event_at: -11 * 60_000 })
        .execute(),
    { stalled_since: expect.any(String), cursor: expect.stringMatching(/-stalled$/) },
  ],
])(
  "wait_seconds ends early with another %s, whichever process stored it (U2, J3)",
  async ([, change, seen], context) => {
    const watcher = await openWatcher(context, { frozen: true });
    let answered = false;
    const answer = watcher.status({ wait_seconds: 50 }).finally(() => (answered = true));
    await watcher.waiting;
    expect(answered).toBe(false);
    await change(watcher);
    expect((await answer).structured).toMatchObject({ success: true, ...seen });
  },
);

test("wait_seconds does not end with a new thought, a new action or less than a tenth of progress (U2)", async (context) => {
  const watcher = await openWatcher(context, { frozen: true });
  let answered = false;
  const answer = watcher.status({ wait_seconds: 50 }).finally(() => (answered = true));
  await watcher.waiting;
  await appendEvents(watcher.db, watcher.taskId, [{ kind: "thought", text: "Lakes are deep.", at: 1 }]);
  await watcher.db.updateTable("research_tasks").set({ progress: 9, current_action: "Lakes are deep." }).execute();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(answered).toBe(false);
  watcher.stop.abort();
  await answer;
});

test("a call that waits sends each new action as progress, a thought by its heading (U2)", async (context) => {
  const watcher = await openWatcher(context, { frozen: true });
  const answer = watcher.status({ wait_seconds: 50 });
  await watcher.waiting;
  const thought = "**Reading about lakes**\n\nBaikal holds a fifth of all fresh water.";
  await appendEvents(watcher.db, watcher.taskId, [{ kind: "thought", text: thought, at: 1 }]);
  const action = headingOf(thought);
  await watcher.db.updateTable("research_tasks").set({ progress: 4, current_action: action }).execute();
  await waitFor(() => expect(watcher.sent).toEqual(["Researching", "4 % (estimate): Reading about lakes"]));
  await watcher.db.updateTable("research_tasks").set({ status: "completed" }).execute();
  await answer;
  expect(watcher.sent).toHaveLength(2);
});

test("a thought is sent once, and its heading is the current action (U2)", async (context) => {
  const { db, taskId, status } = await openWatcher(context);
  const thought = "\n\n**Reading about lakes**\n\nBaikal holds a fifth of all fresh water.";
  await appendEvents(db, taskId, [{ kind: "thought", text: thought, at: 1 }]);
  const action = headingOf(thought);
  await db.updateTable("research_tasks").set({ current_action: action }).execute();
  const { structured: first } = await status();
  expect(first).toMatchObject({ last_thought: thought, current_action: "Reading about lakes" });
  const { structured: second } = await status({ cursor: first["cursor"] });
  expect(second).not.toHaveProperty("last_thought");
  expect(second).toMatchObject({ current_action: "Reading about lakes" });
});

test("an eight-minute research takes at most twelve status calls (U2)", async (context) => {
  const minutes = 8;
  let elapsed = 20_000;
  let calls = 0;
  let cursor: unknown;
  const watcher = await openWatcher(context, {
    onSleep: async (ms) => {
      elapsed += ms;
      const progress = Math.round(progressBySeen(DEFAULT_AGENT, { searches: elapsed / 6_000, thoughts: 0 }));
      const ended = elapsed > minutes * 60_000;
      await watcher.db
        .updateTable("research_tasks")
        .set(ended ? { status: "completed", progress: 100 } : { progress })
        .execute();
    },
  });
  for (let status: unknown; status !== "completed"; calls += 1) {
    const { structured } = await watcher.status({ wait_seconds: 45, ...(cursor === undefined ? {} : { cursor }) });
    ({ status, cursor } = structured);
  }
  expect(calls).toBeLessThanOrEqual(12);
});

test("wait_seconds returns the state when its time is over, and at once for a finished run or a cancelled call (J3)", async (context) => {
  const watcher = await openWatcher(context);
  const { structured } = await watcher.status({ wait_seconds: 50 });
  expect(structured).toMatchObject({ success: true, status: "running_async", progress: 0 });
  expect(structured).not.toHaveProperty("caution");
  const lost = watcher.status({ wait_seconds: 50 });
  watcher.stop.abort();
  expect(await lost).toMatchObject({ failed: false });
  await watcher.db.updateTable("research_tasks").set({ status: "completed" }).execute();
  watcher.asked.length = 0;
  expect((await watcher.status({ wait_seconds: 50 })).structured).toMatchObject({ status: "completed" });
  expect(watcher.asked).toEqual([]);
});

test("a call that waits also follows the run, unless there is no key or that fails (J3)", async (context) => {
  const following = await openWatcher(context);
  await following.status({ wait_seconds: 1 });
  expect(following.asked).toEqual(["research", "start"]);
  const keyless = await openWatcher(context, { agent: async () => undefined });
  expect(await keyless.status({ wait_seconds: 1 })).toMatchObject({ failed: false });
  expect(keyless.asked).toEqual([]);
  const broken = await openWatcher(context, { agent: () => Promise.reject(new Error("no")) });
  expect(await broken.status({ wait_seconds: 1 })).toMatchObject({ failed: false });
});

test("the cursor reports a change between two calls at once, and differs in each call (J3)", async (context) => {
  const watcher = await openWatcher(context, { frozen: true });
  const cursorOf = async (input: object): Promise<string> => String((await watcher.status(input)).structured["cursor"]);
  const first = await cursorOf({});
  const second = await cursorOf({ cursor: first });
  expect([first, second].map((cursor) => cursor.split("-")[0])).toEqual(["1", "2"]);
  expect(second.split("-")[1]).toBe(first.split("-")[1]);
  await watcher.db.updateTable("research_tasks").set({ progress: 42 }).execute();
  // The clock is stopped, so the answer was returned without waiting.
  const { structured } = await watcher.status({ wait_seconds: 50, cursor: second });
  expect(structured).toMatchObject({ progress: 42, cursor: expect.stringMatching(/^3-/) });
  const stop = watcher.status({ wait_seconds: 50, cursor: structured["cursor"] });
  await watcher.waiting;
  watcher.stop.abort();
  await stop;
  for (const cursor of ["", "x", "1", "1-xyz", "1-2", `1-2-${"a".repeat(9)}`, `1-2-${"a".repeat(8)}-done`, 7]) {
    expect((await watcher.status({ cursor })).structured["error"]).toMatchObject({ code: "INVALID_INPUT" });
  }
});

test("wait_seconds is a whole number from 0 to 50 (A6, J3)", async (context) => {
  const { status } = await openWatcher(context);
  for (const wait_seconds of [-1, 51, 1.5, "10", null]) {
    expect((await status({ wait_seconds })).structured["error"]).toMatchObject({
      code: "INVALID_INPUT",
      message: "wait_seconds must be a whole number from 0 to 50.",
    });
  }
});
