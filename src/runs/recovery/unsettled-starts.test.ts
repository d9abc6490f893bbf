/** Uncharged starts during a database outage: they end as failed, never as unknown. */

import { expect, test } from "vitest";
import { clock, follow } from "../../../test/kit/store/runner.ts";
import { breakStore, error, LOST, NOT_SENT, openSender, TAKEN } from "../../../test/kit/simulator/sender.ts";
import { rowOf } from "../../../test/kit/store/store-rows.ts";
import { AppError } from "../../errors.ts";
import type { Database } from "../../store/database.ts";
import { currentOf } from "../conversation-store.ts";
import { START_LEASE_MS } from "../lock-store.ts";
import { resumeAgentRun } from "../start/resume.ts";
import { flushUnchargedFailures } from "./unsettled-starts.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

/** The next transaction is committed, but its acknowledgement is lost. */
function answerLost(db: Database): Database {
  const transaction: Database["transaction"] = () => {
    const builder = db.transaction();
    const execute: typeof builder.execute = builder.execute.bind(builder);
    builder.execute = async (work) => {
      await execute(work);
      throw new AppError({ code: "SQLITE_ERROR", message: "The database cannot be reached." });
    };
    return builder;
  };
  return new Proxy(db, {
    get: (target, name) => {
      const member: unknown = name === "transaction" ? transaction : Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

test("the failure of an uncharged start is stored once the database accepts writes, and is not recorded as unknown (P5)", async (context) => {
  const sender = await openSender(context, [{ kind: "refused", error }]);
  breakStore(sender);
  const taskId = await sender.start();
  await sender.allowWrites();
  // Longer than a start may take: one not known to be uncharged would become unknown.
  await sender.research.clock.sleep(2 * START_LEASE_MS);
  follow({ ...sender.research, clock });
  await waitFor(async () => expect((await rowOf(sender.db, taskId)).status).not.toBe("pending"));
  expect(await rowOf(sender.db, taskId)).toMatchObject({ status: "failed", error_code: error.code });
  expect(sender.research.unchargedFailures.size).toBe(0);
});

test("a retry of an unsent start whose check the database refuses fails as uncharged (P5)", async (context) => {
  const sender = await openSender(context, [NOT_SENT, TAKEN]);
  let asked = false;
  const { db } = sender.research;
  sender.research.db = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!asked) return result;
      asked = false;
      throw new AppError({ code: "SQLITE_ERROR", message: "The database cannot be reached." });
    },
  });
  sender.asleep.push(() => void (asked = true));
  expect(await rowOf(db, await sender.start())).toMatchObject({ status: "failed", error_code: "SQLITE_ERROR" });
  expect(sender.sent).toHaveLength(1);
});

test("an intent whose commit succeeded but was not acknowledged is not sent and fails as uncharged (I8)", async (context) => {
  const sender = await openSender(context, [TAKEN]);
  const { db } = sender.research;
  sender.research.db = answerLost(db);
  await expect(sender.start()).rejects.toMatchObject({ code: "SQLITE_ERROR" });
  sender.research.db = db;
  const [lost] = await db.selectFrom("research_tasks").select(["task_id", "status"]).execute();
  expect(lost?.status).toBe("pending");
  const again = await sender.start();
  expect(again).not.toBe(lost?.task_id);
  expect(await rowOf(db, lost?.task_id ?? "")).toMatchObject({
    status: "failed",
    error_message: "The database cannot be reached. The research was not sent and nothing was charged.",
  });
  expect(sender.sent.map(({ labels }) => labels["run"])).toEqual([again]);
});

test("a restart that the database refuses leaves the earlier start unknown, so that its report can be adopted (P5, I8)", async (context) => {
  const sender = await openSender(context, [LOST]);
  const taskId = await sender.start();
  const refusal = new AppError({ code: "SQLITE_ERROR", message: "The database cannot be written." });
  const restarted = resumeAgentRun(sender.research, {
    owner: "local",
    taskId,
    interactionId: undefined,
    acceptDoubleCharge: true,
    newest: taskId,
    checkCost: () => {
      throw refusal;
    },
  });
  await expect(restarted).rejects.toMatchObject({ code: "SQLITE_ERROR" });
  await flushUnchargedFailures(sender.research);
  expect(await rowOf(sender.db, taskId)).toMatchObject({ status: "start_unknown", completed_at: null });
});

test("a restart whose commit was not acknowledged is made by the next call, and sent once (I8, Q1)", async (context) => {
  const sender = await openSender(context, [LOST, TAKEN]);
  const { db } = sender.research;
  const taskId = await sender.start();
  const again = { owner: "local", taskId, interactionId: undefined, acceptDoubleCharge: true, newest: taskId };
  await expect(resumeAgentRun({ ...sender.research, db: answerLost(db) }, again)).rejects.toMatchObject({
    code: "SQLITE_ERROR",
  });
  const resumed = await resumeAgentRun(sender.research, again);
  expect(resumed.kind).toBe("restarted");
  if (resumed.kind === "restarted") await resumed.sending;
  expect(sender.sent).toHaveLength(2);
  expect(await currentOf(db, "local", taskId)).toMatchObject({ status: "running_async", interactionId: "v1_taken" });
});
