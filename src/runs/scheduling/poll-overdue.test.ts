import { expect, test } from "vitest";
import { clock, openRunner, request } from "../../../test/kit/store/runner.ts";
import { startResearch } from "../start/start.ts";
import { pollOverdue, unpolledSince } from "./overdue-store.ts";

test("a run whose poll was asked for and not made is still said to be unpolled since it was due (J2)", async (context) => {
  const { store, deps } = await openRunner(context);
  const { db } = store;
  const started = await startResearch(deps(), request);
  if (started.kind === "started") await started.sending;
  const dueAt = clock.now() - 600_000;
  await db.updateTable("research_tasks").set({ next_poll_at: dueAt }).execute();
  let at = 0;
  const calls: string[] = [];
  await pollOverdue(
    {
      db,
      clock: { ...clock, monotonic: () => (at += 1_000), sleep: async () => {} },
      runner: async () => ({ start: () => calls.push("start"), wake: () => calls.push("wake") }),
      signal: new AbortController().signal,
    },
    { owner: request.owner, onPoll: () => calls.push("asking") },
  );
  expect(calls).toEqual(["asking", "start", "wake"]);
  expect(await unpolledSince(db, started.taskId, clock.now())).toBe(dueAt);
});
