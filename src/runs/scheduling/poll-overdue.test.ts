import { expect, test } from "vitest";
import { clock, openRunner, request } from "../../../test/kit/store/runner.ts";
import { decide, planned, stage } from "../../../test/kit/store/planning.ts";
import { currentOf } from "../conversation-store.ts";
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

test("the id of a plan has the research of it polled, which took its place (J2, V2)", async (context) => {
  const { db, research, polls, poll, taskId } = await stage(context);
  await poll();
  await decide(research, taskId);
  polls.set("v1_2", planned("# Report"));
  await db.updateTable("research_tasks").set({ next_poll_at: 1 }).where("interaction_id", "=", "v1_2").execute();
  await pollOverdue(
    {
      db,
      clock: { ...clock, sleep: () => poll() },
      runner: async () => ({ start: () => {}, wake: () => {} }),
      signal: new AbortController().signal,
    },
    { owner: request.owner, taskId, onPoll: () => {} },
  );
  expect((await currentOf(db, request.owner, taskId)).status).toBe("completed");
});
