/** What a start stores and sends besides its question, and what is recorded of its outcome. */

import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { breakStore, error, LOST, openSender, type Sender, TAKEN } from "../../../test/kit/simulator/sender.ts";
import { request } from "../../../test/kit/store/runner.ts";
import { ERROR, intended, NOW } from "../../../test/kit/store/stored-start.ts";
import { insertAttempt, insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { type Attributes, setRecorder } from "../../telemetry/telemetry.ts";
import { currentAttempt } from "../attempt-store.ts";
import { START_LEASE_MS } from "../lease.ts";
import { findFiles } from "./file-store.ts";
import { restartUnknown, type StartRequest, startResearch } from "./start.ts";
import { commitRestart, pendingStarts, recordStartFailure } from "./start-store.ts";

async function begin({ research }: Sender, wish: Partial<StartRequest>): Promise<string> {
  const started = await startResearch(research, { ...request, ...wish });
  if (started.kind === "started") await started.sending;
  return started.taskId;
}

test.each([
  ["a plain start", undefined, 0],
  ["a start that asks for a plan", { collaborativePlanning: true }, 1],
  ["a start that carries a plan out", { collaborativePlanning: false }, 0],
])("%s is stored with what it waits for (V2)", async (_start, variant, isPlanning) => {
  const sender = await openSender({ onTestFinished }, [TAKEN]);
  const taskId = await begin(sender, { variant });
  expect(await currentAttempt(sender.db, taskId)).toMatchObject({ is_planning: isPlanning });
  expect((await rowOf(sender.db, taskId)).plan_json === null).toBe(isPlanning === 0);
  expect(sender.sent[0]?.variant).toEqual(variant);
});

test("the same question about two reports is two follow-ups, each with its parent; about one it is paid once (V1)", async (context) => {
  const sender = await openSender(context, [TAKEN]);
  for (const id of ["report 1", "report 2"]) await insertRun(sender.db, { task_id: id, status: "completed" });
  const followup = { context: "stored_report", readStoredReport: async () => undefined } as const;
  const ask = (parentTaskId: string) => begin(sender, { parentTaskId, followup });
  const [first, second] = [await ask("report 1"), await ask("report 2")];
  expect(new Set([first, second, await begin(sender, {})]).size).toBe(3);
  expect(await ask("report 1")).toBe(first);
  expect(sender.sent).toHaveLength(3);
  expect(await rowOf(sender.db, second)).toMatchObject({
    parent_task_id: "report 2",
    followup_context: "stored_report",
  });
});

test("files are sent as they were stored and deleted once the start is decided; a damaged one stops the start unsent (V3)", async (context) => {
  const sender = await openSender(context, [TAKEN]);
  const content = Buffer.from("a,b\n1,2\n");
  const sha256 = createHash("sha256").update(content).digest("hex");
  const file = { name: "a.csv", kind: "csv", bytes: content.length, sha256 } as const;
  const withFile = (facts: { sha256: string }) => ({
    files: [{ ...file, content }],
    variant: { material: { files: [{ ...file, ...facts }] } },
  });
  const taskId = await begin(sender, withFile({ sha256 }));
  expect(sender.sent[0]?.files?.map((sent) => Buffer.from(sent.content).toString())).toEqual([content.toString()]);
  expect(await findFiles(sender.db, taskId)).toEqual([]);
  expect(await rowOf(sender.db, await begin(sender, withFile({ sha256: "00" })))).toMatchObject({
    status: "failed",
    error_code: "INVALID_INPUT",
    error_message: expect.stringContaining("damaged"),
  });
  expect(sender.sent).toHaveLength(1);
});

test("a start of unknown outcome that could not be recorded is joined by the same question, not sent again (I8, P5)", async (context) => {
  const sender = await openSender(context, [LOST, TAKEN]);
  breakStore(sender);
  const taskId = await sender.start();
  await sender.allowWrites();
  expect(sender.research.unchargedFailures.size).toBe(0);
  expect(await sender.start()).toBe(taskId);
  expect(sender.sent).toHaveLength(1);
});

test("a restart that the call's own check refuses is neither stored nor sent (I8, I10)", async (context) => {
  const sender = await openSender(context, [LOST, TAKEN]);
  const taskId = await sender.start();
  const checkCost = (): never => {
    throw error;
  };
  const after = (await currentAttempt(sender.db, taskId))?.attempt_id;
  const run = { ...request, taskId, after, deadlineAt: 77_000_000 };
  await expect(restartUnknown(sender.research, { ...run, checkCost })).rejects.toBe(error);
  await expect(restartUnknown(sender.research, { ...run, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "CANCELLED",
  });
  expect((await rowOf(sender.db, taskId)).status).toBe("start_unknown");
  expect(sender.sent).toHaveLength(1);
});

test("a restart repeats the attempt that the user decided on, and none after it, whatever the clock (Q1, I8)", async () => {
  const db = await openDatabase();
  const { taskId, attemptId } = await intended(db);
  const fail = (attempt: string) =>
    recordStartFailure(db, { taskId, attemptId: attempt, to: "start_unknown", error: ERROR, now: NOW });
  const repeat = (after: string, now: number) =>
    commitRestart(db, { taskId, after, deadlineAt: NOW, keyFingerprint: "k", baseUrl: "b", processId: "me", now });
  await fail(attemptId);
  const second = (await repeat(attemptId, NOW - 5_000)) ?? "";
  await fail(second);
  expect(await rowOf(db, taskId)).toMatchObject({ status: "start_unknown" });
  expect(await repeat(attemptId, NOW)).toBeUndefined();
  expect(await repeat(second, NOW)).toBeDefined();
});

test("starts under way end with their lease even if it was lost (I8)", async () => {
  const db = await openDatabase();
  for (const id of ["a", "b"]) {
    await insertRun(db, { task_id: id, status: "cancelled", lease_owner: "me", lease_until: null });
    await insertAttempt(db, { attempt_id: `of ${id}`, task_id: id, sent_at: id === "a" ? NOW : null });
  }
  const start = (id: string, leaseUntil: number) => ({
    taskId: id,
    attemptId: `of ${id}`,
    leaseOwner: "me",
    leaseUntil,
  });
  expect(await pendingStarts(db)).toEqual([start("a", NOW + START_LEASE_MS), start("b", START_LEASE_MS)]);
});

test("each start is counted with its outcome (T9)", async (context) => {
  const counted: [string, number, Attributes][] = [];
  setRecorder({
    inSpan: (_start, work) => work({ set: () => {}, fail: () => {} }),
    inRun: (_taskId, _options, work) => work(),
    add: (...count) => void counted.push(count),
    measure: () => {},
    traceIds: () => undefined,
  });
  context.onTestFinished(() => setRecorder(undefined));
  const sender = await openSender(context, [TAKEN, LOST]);
  await sender.start();
  await sender.start({ forceNew: true });
  expect(counted.filter(([name]) => name === "gemini_search.research.starts")).toEqual([
    ["gemini_search.research.starts", 1, { outcome: "accepted" }],
    ["gemini_search.research.starts", 1, { outcome: "unknown" }],
  ]);
});
