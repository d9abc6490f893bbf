/** When and how often a paid start is sent, and what is stored of its outcome, with a manual clock. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { StartOutcome } from "../../gemini/research-agent.ts";
import { request } from "../../../test/kit/store/runner.ts";
import { breakStore, busy, error, LOST, NOT_SENT, openSender, TAKEN } from "../../../test/kit/simulator/sender.ts";
import { rowOf } from "../../../test/kit/store/store-rows.ts";
import { joinKeyOf } from "./duplicate-start-store.ts";
import { resumeAgentRun } from "./resume.ts";
import { startResearch } from "./start.ts";
import { currentAttempt } from "../attempt-store.ts";
import { milestones } from "../history/timeline.ts";
import { lockRun } from "../lock-store.ts";
import { currentOf } from "../conversation-store.ts";

describe("a start", () => {
  test("is sent once, labelled with run and attempt, and polled under Google's id (I8)", async (context) => {
    const { db, sent, start, duties } = await openSender(context, [TAKEN]);
    const taskId = await start();
    const attempt = await currentAttempt(db, taskId);
    expect(sent).toMatchObject([
      { query: request.query, agent: request.agent, labels: { run: taskId, attempt: attempt?.attempt_id } },
    ]);
    expect(attempt).toMatchObject({ key_fingerprint: "a-key", base_url: "https://google.test" });
    expect(await rowOf(db, taskId)).toMatchObject({ status: "running_async", interaction_id: "v1_taken" });
    expect(duties).toHaveLength(1);
  });

  test("is stored with its join key, its deadline and the estimate that its user was shown (I9)", async (context) => {
    const { db, start, began, sent } = await openSender(context, [TAKEN]);
    const [plain, withNotice] = [
      await start({ maxWaitMs: 5_000 }),
      await start({ forceNew: true, notice: "It costs." }),
    ];
    expect(await rowOf(db, plain)).toMatchObject({
      options_json: '{"max_wait_ms":5000}',
      join_key: joinKeyOf({ owner: "local", query: request.query, agent: request.agent }),
      deadline_at: began + 5_000,
    });
    expect(await rowOf(db, withNotice)).toMatchObject({
      options_json: `{"max_wait_ms":${request.maxWaitMs},"notice":"It costs."}`,
    });
    expect(await start({ maxWaitMs: 9_000 })).toBe(withNotice);
    expect([plain, withNotice]).not.toContain(await start({ forceNew: true }));
    expect(sent).toHaveLength(3);
  });

  test("that could not be sent is retried twice, with growing pauses (I8)", async (context) => {
    const { db, sentAt, start } = await openSender(context, [NOT_SENT]);
    const taskId = await start();
    expect(sentAt).toEqual([0, 1_000, 3_000]);
    expect(await rowOf(db, taskId)).toMatchObject({
      status: "failed",
      error_code: error.code,
      error_message: error.message,
    });
  });

  test.for<[string, StartOutcome[], string[]]>([
    ["not sent", [NOT_SENT], ["Created", "The start failed; nothing was sent and nothing was charged"]],
    [
      "refused without a key",
      [{ kind: "refused", error }],
      ["Created", "The start failed; nothing was sent and nothing was charged"],
    ],
    [
      "refused by Google",
      [{ kind: "refused", status: 400, error }],
      ["Created", "Sent to Google", "The start failed; nothing was charged"],
    ],
    [
      "sent once, then not",
      [busy(0), NOT_SENT],
      ["Created", "Sent to Google", "The start failed; nothing was charged"],
    ],
  ])("that was %s has a timeline with what was sent (I8)", async ([, answers, texts], context) => {
    const { db, start } = await openSender(context, answers);
    const run = await currentOf(db, request.owner, await start());
    const entries = await milestones(db, run);
    expect(entries.map(({ text }) => text)).toEqual([...texts, `Failed: ${error.message}`]);
  });

  test("that meets a 429 waits as long as Google asks, or a default, and is accepted in the end (I8)", async (context) => {
    const { db, sentAt, start } = await openSender(context, [busy(7_000), busy(undefined), TAKEN]);
    const taskId = await start();
    expect(sentAt).toEqual([0, 7_000, 9_000]);
    expect(await rowOf(db, taskId)).toMatchObject({ status: "running_async" });
  });

  for (const [how, retryAfterMs, times] of [
    ["until the last moment", 20_000, [0, 20_000]],
    ["not beyond it", 20_001, [0]],
  ] as const) {
    test(`is retried within 20 s, ${how} (I8)`, async (context) => {
      const { db, sentAt, start } = await openSender(context, [busy(retryAfterMs)]);
      expect(await rowOf(db, await start())).toMatchObject({ status: "failed", error_code: error.code });
      expect(sentAt).toEqual(times);
    });
  }

  test("of unknown outcome is not sent again, and is recorded as unknown (I8)", async (context) => {
    const { db, sent, start } = await openSender(context, [LOST]);
    expect(await rowOf(db, await start())).toMatchObject({
      status: "start_unknown",
      error_code: "START_UNKNOWN",
      error_message: "The connection broke. It is not known whether the research was started.",
    });
    expect(sent).toHaveLength(1);
  });

  test("that Google refused is not sent again (I8)", async (context) => {
    const { db, sent, start } = await openSender(context, [{ kind: "refused", error }]);
    expect(await rowOf(db, await start())).toMatchObject({ status: "failed", error_code: error.code });
    expect(sent).toHaveLength(1);
  });

  test("is not sent again by a process that shuts down, and its answer is awaited (I8)", async (context) => {
    const sender = await openSender(context, [NOT_SENT]);
    sender.asleep.push(() => sender.leaving.abort());
    expect(await rowOf(sender.db, await sender.start())).toMatchObject({ status: "failed" });
    expect(sender.sent).toHaveLength(1);
    expect(sender.sent[0]?.signal.aborted).toBe(false);
    // During shutdown nothing is sent.
    await expect(sender.start({ forceNew: true })).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(sender.sentAt).toEqual([0]);
  });

  test("fails when the shutdown of its process ends its pause (I8)", async (context) => {
    const sender = await openSender(context, [NOT_SENT]);
    sender.asleep.push(() => {
      sender.leaving.abort();
      throw new Error("The wait was broken off.");
    });
    expect(await rowOf(sender.db, await sender.start())).toMatchObject({ status: "failed" });
  });

  test("is not sent again once it is cancelled (L1)", async (context) => {
    const sender = await openSender(context, [NOT_SENT, TAKEN]);
    sender.asleep.push(async () => {
      await sender.db.updateTable("research_tasks").set({ status: "cancelled" }).execute();
    });
    expect(await rowOf(sender.db, await sender.start())).toMatchObject({ status: "cancelled" });
    expect(sender.sent).toHaveLength(1);
  });

  test("ends when its call is cancelled during a pause, and is no longer joined (L1)", async (context) => {
    const sender = await openSender(context, [busy(5_000), TAKEN]);
    const call = new AbortController();
    sender.asleep.push(() => call.abort());
    const taskId = await sender.start({ signal: call.signal });
    expect(await rowOf(sender.db, taskId)).toMatchObject({ status: "cancelled", error_code: "CANCELLED" });
    expect(sender.sent).toHaveLength(1);
    expect(await sender.start()).not.toBe(taskId);
  });

  test("that a second call has joined is sent although the first call is cancelled, and not before its pause ends (L1)", async (context) => {
    const sender = await openSender(context, [busy(5_000), TAKEN]);
    const call = new AbortController();
    let joined: unknown;
    sender.asleep.push(async () => {
      joined = await startResearch(sender.research, request);
      call.abort();
    });
    const taskId = await sender.start({ signal: call.signal });
    expect(joined).toEqual({ kind: "joined", taskId });
    expect(await rowOf(sender.db, taskId)).toMatchObject({ status: "running_async", interaction_id: "v1_taken" });
    expect(sender.sentAt).toEqual([0, 5_000]);
  });

  test("is claimed again when the machine was suspended during the claim, which only the wall clock shows (I8)", async (context) => {
    const sender = await openSender(context, [TAKEN]);
    const { agent, clock } = sender.research;
    const { start: begin } = agent;
    let claims = 0;
    const sleepingMachine = (): number => {
      claims += 1;
      if (claims === 1) vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
      return sender.began;
    };
    agent.start = async (wish) => {
      const { now } = clock;
      clock.now = sleepingMachine;
      const begun = await begin(wish);
      clock.now = now;
      return begun;
    };
    context.onTestFinished(() => void vi.restoreAllMocks());
    expect(await rowOf(sender.db, await sender.start())).toMatchObject({ status: "running_async" });
    expect(claims).toBe(2);
  });

  test("is claimed once, however long it waited for the lock of its run (I8)", async (context) => {
    const sender = await openSender(context, [TAKEN]);
    const { agent, clock } = sender.research;
    const { start: begin } = agent;
    const locked = Promise.withResolvers<void>();
    let claims = 0;
    agent.start = async (wish) => {
      const holding = sender.db.transaction().execute(async (transaction) => {
        await lockRun(transaction, wish.labels["run"] ?? "");
        await locked.promise;
      });
      const { now } = clock;
      clock.now = () => {
        claims += 1;
        return sender.began;
      };
      const begun = begin(wish);
      vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
      locked.resolve();
      await holding;
      return begun.finally(() => (clock.now = now));
    };
    context.onTestFinished(() => void vi.restoreAllMocks());
    expect(await rowOf(sender.db, await sender.start())).toMatchObject({ status: "running_async" });
    expect(claims).toBe(1);
  });
});

describe("when the database refuses a write", () => {
  test("the id of a paid run is kept in a file, in memory and in the log (P5)", async (context) => {
    const sender = await openSender(context, [TAKEN]);
    breakStore(sender);
    const taskId = await sender.start();
    const attemptId = sender.sent[0]?.labels["attempt"];
    expect(sender.research.unsavedIds.get(taskId)).toMatchObject({
      taskId,
      attemptId,
      query: request.query,
      interactionId: "v1_taken",
      enableNotifications: true,
    });
    const kept = readFileSync(join(sender.directory, "orphans.jsonl"), "utf8");
    expect(kept).toContain("v1_taken");
    expect(kept).toContain(attemptId);
    expect(sender.lines).toEqual([
      expect.stringContaining(
        `Run ${taskId} was started at Google as v1_taken, but the database refused the id. It is saved in ${join(sender.directory, "orphans.jsonl")} and imported as soon as the database can be written.`,
      ),
    ]);
    await sender.allowWrites();
  });

  test("and the disk does too, the log says that it holds the only record of a paid id (P5)", async (context) => {
    const sender = await openSender(context, [TAKEN]);
    breakStore(sender);
    Object.assign(sender.research, { stateDir: join(sender.directory, "missing", "folder") });
    const noDirectory = join(sender.directory, "a-file");
    writeFileSync(noDirectory, "");
    vi.stubEnv("TMPDIR", noDirectory);
    context.onTestFinished(() => void vi.unstubAllEnvs());
    const taskId = await sender.start();
    expect(sender.research.unsavedIds.has(taskId)).toBe(true);
    expect(sender.lines).toEqual([
      expect.stringContaining(
        "v1_taken, but the database refused the id. It could not be written to orphans.jsonl either: this line is its only record besides this process's memory.",
      ),
    ]);
    await sender.allowWrites();
  });

  test("the failure of a start is written to the log (P5)", async (context) => {
    const sender = await openSender(context, [{ kind: "refused", error }]);
    breakStore(sender);
    const taskId = await sender.start();
    expect(sender.lines).toEqual([
      expect.stringContaining(`Run ${taskId}: ${error.message} This could not be stored.`),
    ]);
    await sender.allowWrites();
    expect(await rowOf(sender.db, taskId)).toMatchObject({ status: "pending" });
    // The next start does not join a start that will not be sent.
    expect(await sender.start()).not.toBe(taskId);
    expect(await rowOf(sender.db, taskId)).toMatchObject({ status: "failed", error_code: error.code });
  });
});

test("a restart of an unknown start is one new run with one request, and none for any other run (Q1)", async (context) => {
  const sender = await openSender(context, [LOST, TAKEN]);
  const taskId = await sender.start();
  const again = { owner: "local", taskId, interactionId: undefined, acceptDoubleCharge: true, newest: taskId };
  const restarts = await Promise.all(Array.from({ length: 12 }, () => resumeAgentRun(sender.research, again)));
  for (const restarted of restarts) if (restarted.kind === "restarted") await restarted.sending;
  const current = await currentOf(sender.db, "local", taskId);
  expect(restarts.map(({ kind }) => kind).toSorted()).toEqual([...Array(11).fill("joined"), "restarted"]);
  expect(sender.sent.map(({ labels }) => labels["run"])).toEqual([taskId, current.taskId]);
  expect(await rowOf(sender.db, current.taskId)).toMatchObject({
    status: "running_async",
    interaction_id: "v1_taken",
    carries_on: taskId,
    lease_owner: sender.store.processId,
  });
  expect(await currentAttempt(sender.db, current.taskId)).toMatchObject({
    key_fingerprint: "a-key",
    base_url: "https://google.test",
  });
  expect(sender.duties).toHaveLength(2);
  expect((await resumeAgentRun(sender.research, again)).kind).toBe("joined");
  expect(sender.sent).toHaveLength(2);
});
