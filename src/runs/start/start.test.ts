import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { AppError } from "../../errors.ts";
import type { StartOutcome } from "../../gemini/research-agent.ts";
import { clock, FINISHED, openRunner, request, WORKING } from "../../../test/kit/store/runner.ts";
import { cancelRun } from "../cancel/cancel.ts";
import { importOrphanedIds, keepOrphanedId } from "../recovery/orphaned-ids.ts";
import { resumeAgentRun } from "./resume.ts";
import { currentOf } from "../conversation-store.ts";
import { startResearch } from "./start.ts";

const busy = (retryAfterMs: number): StartOutcome => ({
  kind: "rate_limited",
  retryAfterMs,
  error: new AppError({ code: "GEMINI_UNAVAILABLE", message: "The quota is used up for now." }),
});
const lost: StartOutcome = { kind: "unknown", why: "The connection broke." };

test("a start that is cancelled during the pause before a retry is not sent again (I8, L1)", async (t) => {
  const stage = await openRunner(t);
  let posts = 0;
  const paused = Promise.withResolvers<number>();
  const cancelled = Promise.withResolvers<void>();
  const research = {
    ...stage.deps({
      start: async ({ checkBeforeSending }) => {
        const refusal = await checkBeforeSending();
        if (refusal !== undefined) return { kind: "withheld", error: refusal };
        posts += 1;
        return busy(8_000);
      },
    }),
    // The pause lasts until the run is cancelled, however long that takes.
    clock: { ...clock, sleep: (ms: number) => (paused.resolve(ms), cancelled.promise) },
  };
  const started = await startResearch(research, request);
  expect(await paused.promise).toBe(8_000);
  expect(posts).toBe(1);
  const { taskId } = started;
  const run = await cancelRun(
    { db: stage.store.db, clock, agent: undefined, pollNow: async () => {} },
    { owner: "local", taskId, keepPartial: true },
  );
  expect(run.status).toBe("cancelled");
  cancelled.resolve();
  if (started.kind === "started") await started.sending;
  expect(posts).toBe(1);
});

test("a start that needs confirmation joins an existing run, or is refused before anything is stored or sent (I8, I9)", async (t) => {
  const stage = await openRunner(t);
  let posts = 0;
  const research = stage.deps({
    start: async () => {
      posts += 1;
      return { kind: "accepted", interactionId: FINISHED.id };
    },
  });
  const checkCost = (): never => {
    throw new AppError({ code: "CONFIRMATION_NEEDED", message: "The user must agree." });
  };
  await expect(startResearch(research, { ...request, checkCost })).rejects.toMatchObject({
    code: "CONFIRMATION_NEEDED",
  });
  expect(await stage.store.db.selectFrom("research_tasks").select("task_id").execute()).toEqual([]);
  const first = await startResearch(research, request);
  if (first.kind === "started") await first.sending;
  expect(await startResearch(research, { ...request, checkCost })).toEqual({ kind: "joined", taskId: first.taskId });
  const again = startResearch(research, { ...request, forceNew: true, checkCost });
  await expect(again).rejects.toMatchObject({ code: "CONFIRMATION_NEEDED" });
  expect(posts).toBe(1);
});

test("a process that shuts down sends no request whose answer it could not await (I8, A8)", async (t) => {
  const stage = await openRunner(t);
  let posts = 0;
  const leaving = new AbortController();
  const begin = async (): Promise<StartOutcome> => {
    posts += 1;
    return { kind: "accepted", interactionId: FINISHED.id };
  };
  const research = { ...stage.deps({ start: begin }), leaving: leaving.signal };
  // Shutdown begins while the intent is being stored.
  const racing = stage.store.db.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === "InsertQueryNode") leaving.abort();
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const started = await startResearch({ ...research, db: racing }, request);
  if (started.kind === "started") await started.sending;
  expect(await currentOf(stage.store.db, "local", started.taskId)).toMatchObject({
    status: "failed",
    error: { code: "INTERRUPTED" },
  });
  await expect(startResearch(research, { ...request, forceNew: true })).rejects.toMatchObject({ code: "INTERRUPTED" });
  expect(posts).toBe(0);
});

test("an id that Google does not know is not adopted, and the run stays unchanged (Q1)", async (t) => {
  const stage = await openRunner(t);
  const research = stage.deps({
    start: async () => lost,
    poll: async (id) => {
      if (id === FINISHED.id) return { kind: "found", interaction: WORKING };
      return { kind: id === "v1_not_an_id" ? "rejected" : "missing" };
    },
  });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  const adopt = (interactionId: string) =>
    resumeAgentRun(research, { owner: "local", taskId, interactionId, acceptDoubleCharge: false });
  for (const wrong of ["v1_mistyped", "v1_not_an_id"]) {
    await expect(adopt(wrong)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  }
  expect((await currentOf(stage.store.db, "local", taskId)).status).toBe("start_unknown");
  expect((await adopt(FINISHED.id)).run.status).toBe("running_async");
});

test("a restart of an unknown start gets the full time limit (I11)", async (t) => {
  const stage = await openRunner(t);
  let posts = 0;
  const research = stage.deps({
    start: async () => {
      posts += 1;
      return posts === 1 ? lost : { kind: "accepted", interactionId: FINISHED.id };
    },
  });
  const started = await startResearch(research, { ...request, maxWaitMs: 3_600_000 });
  if (started.kind === "started") await started.sending;
  const { taskId } = started;
  await stage.store.db.updateTable("research_tasks").set({ deadline_at: 1 }).where("task_id", "=", taskId).execute();
  const resumed = await resumeAgentRun(research, {
    owner: "local",
    taskId,
    interactionId: undefined,
    acceptDoubleCharge: true,
    newest: taskId,
  });
  if (resumed.kind === "restarted") await resumed.sending;
  const run = await currentOf(stage.store.db, "local", taskId);
  expect(run.status).toBe("running_async");
  expect((run.deadlineAt ?? 0) - clock.now()).toBeGreaterThan(3_000_000);
});

test("an id of another database stays in its file (P5)", async (t) => {
  const { directory, store, deps } = await openRunner(t);
  keepOrphanedId(directory, { attemptId: "an-attempt-of-another-database", interactionId: "v1_paid" });
  const { log } = deps();
  await importOrphanedIds(store.db, { directory, log, now: clock.now() });
  await importOrphanedIds(store.db, { directory, log, now: clock.now() });
  expect(readdirSync(directory).filter((name) => name.startsWith("orphans.jsonl"))).toHaveLength(1);
});
