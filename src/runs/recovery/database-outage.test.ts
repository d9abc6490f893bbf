import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onPostgres } from "../../../test/kit/store/databases.ts";
import { FINISHED, follow, openRunner, request, WORKING } from "../../../test/kit/store/runner.ts";
import { findResult } from "../result-store.ts";
import { currentOf } from "../conversation-store.ts";
import { saveReportsDuringOutage } from "./database-outage.ts";
import { startResearch } from "../start/start.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

test("an id that the database refuses is kept in a file, its report is saved and announced, and the run completes (P5)", async (t) => {
  const { directory, store, saved, notified, refuseWrites, allowWrites, deps } = await openRunner(t);
  const research = deps({
    start: async () => {
      await refuseWrites();
      return { kind: "accepted", interactionId: FINISHED.id };
    },
  });
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  expect(readFileSync(join(directory, "orphans.jsonl"), "utf8")).toContain(FINISHED.id);
  follow(research);
  await waitFor(() => expect(saved).toEqual(["# The whole report"]));
  expect(notified).toEqual([`${started.taskId.slice(0, 8)}: saved to /somewhere/${started.taskId}.md`]);
  expect((await currentOf(store.db, "local", started.taskId)).status).toBe("pending");
  await allowWrites();
  await waitFor(async () => expect((await currentOf(store.db, "local", started.taskId)).status).toBe("completed"));
  expect((await findResult(store.db, started.taskId))?.report).toBe("# The whole report");
  expect(existsSync(join(directory, "orphans.jsonl"))).toBe(false);
  expect(saved).toHaveLength(1);
});

test("an id that neither the database nor a file accepts is written as soon as the database accepts it (P5)", async (t) => {
  const { directory, store, refuseWrites, allowWrites, deps } = await openRunner(t);
  const research = {
    ...deps({
      start: async () => {
        await refuseWrites();
        return { kind: "accepted", interactionId: FINISHED.id };
      },
    }),
    stateDir: "/proc/nowhere",
  };
  const started = await startResearch(research, request);
  if (started.kind === "started") await started.sending;
  await allowWrites();
  follow({ ...research, stateDir: directory });
  await waitFor(async () => expect((await currentOf(store.db, "local", started.taskId)).status).toBe("completed"));
});

test("a plan that is finished during an outage is not announced or saved as a report (P5, V2)", async (t) => {
  const { store, saved, notified, deps } = await openRunner(t);
  const polled: string[] = [];
  const research = deps({
    poll: async (id) => {
      polled.push(id);
      return { kind: "found", interaction: FINISHED };
    },
  });
  const started = await startResearch(research, { ...request, variant: { collaborativePlanning: true } });
  if (started.kind === "started") await started.sending;
  const run = await currentOf(store.db, "local", started.taskId);
  const [plan, report] = [
    { interactionId: "v1_plan", attemptId: "a" },
    { interactionId: "v1_report", attemptId: "b" },
  ];
  research.unsavedIds.set("plan", { ...run, ...plan });
  research.unsavedIds.set("report", { ...run, ...report, taskId: "report", part: "question" });
  await saveReportsDuringOutage(research, new Set());
  expect(polled).toEqual(["v1_report"]);
  expect([saved, notified].map(({ length }) => length)).toEqual([1, 1]);
});

// On PostgreSQL stored runs belong to no process, and Google keeps their reports.
test.for(onPostgres ? [] : ["SQLite"])(
  "a polled run whose disk fills up is saved once and recorded later (P5)",
  async (_, t) => {
    const { store, saved, refuseWrites, allowWrites, deps } = await openRunner(t);
    let ready = false;
    const research = deps({ poll: async () => ({ kind: "found", interaction: ready ? FINISHED : WORKING }) });
    const started = await startResearch(research, request);
    if (started.kind === "started") await started.sending;
    follow(research);
    await refuseWrites();
    ready = true;
    await waitFor(() => expect(saved).toEqual(["# The whole report"]));
    await allowWrites();
    await waitFor(async () => expect((await currentOf(store.db, "local", started.taskId)).status).toBe("completed"));
    expect(saved).toHaveLength(1);
  },
);

test("an id whose attempt is not in this database is kept in memory, since it belongs to another one (P5)", async (t) => {
  const { store, deps } = await openRunner(t);
  const polled: string[] = [];
  const research = deps({
    poll: async (id) => {
      polled.push(id);
      return { kind: "found", interaction: WORKING };
    },
  });
  const { taskId } = await startResearch(research, request);
  const run = await currentOf(store.db, "local", taskId);
  const unsaved = { taskId: "elsewhere", attemptId: "unknown", interactionId: "v1_paid" };
  research.unsavedIds.set("elsewhere", { ...run, ...unsaved });
  follow(research);
  await waitFor(() => expect(polled).toContain("v1_paid"));
  expect(research.unsavedIds.has("elsewhere")).toBe(true);
});
