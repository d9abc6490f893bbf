/** The pause before an uncharged start is sent again: how long it lasts, and what ends it early. */

import { expect, onTestFinished, test } from "vitest";
import { request } from "../../../test/kit/store/runner.ts";
import { AppError } from "../../errors.ts";
import { busy, error, NOT_SENT, openSender, TAKEN } from "../../../test/kit/simulator/sender.ts";
import { rowOf } from "../../../test/kit/store/store-rows.ts";
import { startResearch } from "./start.ts";

test("a Retry-After of 0 still pauses for a second (I8)", async (context) => {
  const { sentAt, start } = await openSender(context, [busy(0)]);
  await start();
  expect(sentAt).toEqual([0, 1_000, 2_000]);
});

test("a start whose labels were refused is sent again at once without them, unless it was cancelled meanwhile (I8)", async (context) => {
  const refused = new AppError({ ...error, reason: "extras" });
  const sender = await openSender(context, [{ kind: "refused", status: 400, error: refused }, TAKEN]);
  const taskId = await sender.start();
  expect(sender.sent.map(({ omitsExtras }) => omitsExtras)).toEqual([false, true]);
  expect(await rowOf(sender.db, taskId)).toMatchObject({ status: "running_async" });
  const cancelled = await openSender(context, [{ kind: "refused", status: 400, error: refused }, TAKEN]);
  const call = new AbortController();
  const { start } = cancelled.research.agent;
  cancelled.research.agent.start = async (wish) => {
    const outcome = await start(wish);
    call.abort();
    return outcome;
  };
  expect(await rowOf(cancelled.db, await cancelled.start({ signal: call.signal }))).toMatchObject({
    status: "cancelled",
  });
  expect(cancelled.sent).toHaveLength(1);
});

test("a cancelled call ends the pause at once, and nothing more is sent (L1)", async (context) => {
  const sender = await openSender(context, [busy(5_000), TAKEN]);
  const call = new AbortController();
  sender.asleep.push(() => {
    sender.pass(1_000);
    call.abort();
  });
  expect(await rowOf(sender.db, await sender.start({ signal: call.signal }))).toMatchObject({
    status: "cancelled",
    completed_at: sender.began + 1_000,
    cancel_confirmed: 1,
  });
  expect(sender.sentAt).toEqual([0]);
});

test("a joined start whose first call is cancelled keeps every pause that Google asked for (I8, L1)", async (context) => {
  const sender = await openSender(context, [busy(5_000), busy(3_000), TAKEN]);
  const call = new AbortController();
  sender.asleep.push(async () => {
    sender.pass(1_000);
    await startResearch(sender.research, request);
    call.abort();
  });
  expect(await rowOf(sender.db, await sender.start({ signal: call.signal }))).toMatchObject({
    status: "running_async",
  });
  expect(sender.sentAt).toEqual([0, 5_000, 8_000]);
});

test.each([
  ["during the pause", 1],
  ["during the rest of the pause of a joined start", 2],
])("a shutdown %s ends it at once, and the start is recorded as unsent (I8, A8)", async (_when, nth) => {
  const sender = await openSender({ onTestFinished }, [busy(5_000), TAKEN]);
  const call = new AbortController();
  const leave = (): void => {
    sender.pass(1_000);
    sender.leaving.abort();
  };
  const join = async (): Promise<void> => {
    await startResearch(sender.research, request);
    call.abort();
  };
  sender.asleep.push(...(nth === 1 ? [leave] : [join, leave]));
  expect(await rowOf(sender.db, await sender.start({ signal: call.signal }))).toMatchObject({
    status: "failed",
    error_code: "INTERRUPTED",
    error_message: "The server is shutting down. The research was not sent and nothing was charged.",
    completed_at: sender.began + 1_000,
    cancel_confirmed: null,
  });
  expect(sender.sentAt).toEqual([0]);
});

test("an uncharged failure of a process that shuts down is recorded without a pause (A8)", async (context) => {
  const sender = await openSender(context, [NOT_SENT]);
  const { start: begin } = sender.research.agent;
  sender.research.agent.start = (wish) => begin(wish).finally(() => sender.leaving.abort());
  expect(await rowOf(sender.db, await sender.start())).toMatchObject({ status: "failed", completed_at: sender.began });
  expect(sender.sent).toHaveLength(1);
});
