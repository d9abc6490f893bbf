/** What a start stores and sends besides its question, and what is recorded of its outcome. */

import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { breakStore, error, LOST, openSender, type Sender, TAKEN } from "../../../test/kit/simulator/sender.ts";
import { request } from "../../../test/kit/store/runner.ts";
import { ERROR, intended, NOW, restart } from "../../../test/kit/store/stored-start.ts";
import { insertAttempt, insertRun, openDatabase, rowOf } from "../../../test/kit/store/store-rows.ts";
import { START_LEASE_MS } from "../lock-store.ts";
import { findFiles } from "../file-store.ts";
import { currentOf } from "../conversation-store.ts";
import { resumeAgentRun } from "./resume.ts";
import { type StartRequest, startResearch } from "./start.ts";
import { pendingStarts, recordStartFailure } from "./start-store.ts";

async function begin({ research }: Sender, wish: Partial<StartRequest>): Promise<string> {
  const started = await startResearch(research, { ...request, ...wish });
  if (started.kind === "started") await started.sending;
  return started.taskId;
}

test.each([
  ["a plain start", undefined, "question"],
  ["a start that asks for a plan", { collaborativePlanning: true }, "plan"],
])("%s is stored with what it waits for (V2)", async (_start, variant, part) => {
  const sender = await openSender({ onTestFinished }, [TAKEN]);
  const taskId = await begin(sender, { variant });
  expect(await rowOf(sender.db, taskId)).toMatchObject({ part });
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
  const again = { owner: "local", taskId, interactionId: undefined, acceptDoubleCharge: true, newest: taskId };
  await expect(resumeAgentRun(sender.research, { ...again, checkCost })).rejects.toBe(error);
  await expect(resumeAgentRun(sender.research, { ...again, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "CANCELLED",
  });
  expect(await sender.db.selectFrom("research_tasks").select("status").execute()).toEqual([
    { status: "start_unknown" },
  ]);
  expect(sender.sent).toHaveLength(1);
});

test("a restart repeats the start that the user decided on, and none after it, whatever the clock (Q1, I8)", async () => {
  const db = await openDatabase();
  const first = await intended(db);
  const fail = (start: typeof first) =>
    recordStartFailure(db, { ...start, to: "start_unknown", error: ERROR, now: NOW });
  await fail(first);
  const second = await restart(db, first.taskId, NOW - 5_000);
  if (second === undefined) throw new Error("It was not sent again.");
  await fail(second);
  expect((await currentOf(db, "local", first.taskId)).taskId).toBe(second.taskId);
  expect(await restart(db, first.taskId)).toBeUndefined();
  expect(await restart(db, second.taskId)).toBeDefined();
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
