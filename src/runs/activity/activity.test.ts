import { expect, test } from "vitest";
import { insertRun, openDatabase } from "../../../test/kit/store/store-rows.ts";
import { appendEvents } from "../event-store.ts";
import { saveRound } from "../result-store.ts";
import { readActivity } from "./activity.ts";
import { activityCounts } from "./time-left.ts";

const taskId = "00000000-0000-4000-8000-000000000001";

test("a deep search is in the phase of its round, with the searches and sites of the finished rounds (J3)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: taskId, kind: "deep_search", status: "running" });
  const run = { kind: "deep_search", taskId } as const;
  expect(await readActivity(db, run)).toEqual({ phase: "Searching", searches: 0, sites: 0, latest_sites: [] });
  const phase = (text: string, at: number) => appendEvents(db, taskId, [{ kind: "phase", text, at }]);
  await phase("Round 1 of at most 5: searching from five perspectives", 1);
  const urls = ["https://www.iea.org/1", "https://iea.org/2", "https://who.int/", "javascript:alert(1)"];
  await saveRound(db, taskId, {
    roundNumber: 1,
    report: "Warm.",
    verified: false,
    summary: "Warm.",
    sources: urls.map((url, index) => ({ n: index + 1, url, title: `Page ${index + 1}`, domain: "" })),
    queries: ["one", "two", "three"],
    metadata: {},
    now: 2,
  });
  await phase("Round 2 of at most 5: verifying", 3);
  expect(await readActivity(db, run)).toEqual({
    phase: "Round 2 of at most 5: verifying",
    searches: 3,
    sites: 2,
    latest_sites: [
      { url: "https://who.int/", title: "Page 3", domain: "who.int" },
      { url: "https://www.iea.org/1", title: "Page 1", domain: "iea.org" },
    ],
  });
});

test("a run of Google's agent without any event is planning; one with thoughts only is researching (J3)", async () => {
  const db = await openDatabase();
  await insertRun(db, { task_id: taskId });
  const run = { kind: "agent", taskId } as const;
  expect(await readActivity(db, run)).toEqual({ phase: "Planning", searches: 0, sites: 0, latest_sites: [] });
  await appendEvents(db, taskId, [{ kind: "thought", text: "**Weighing**", at: 1, eventKey: "k1" }]);
  expect(await readActivity(db, run)).toMatchObject({ phase: "Researching", searches: 0, sites: 0 });
});

test("counts are in the singular for one, and left out for none", () => {
  expect(activityCounts({ searches: 0, sites: 0 })).toBeUndefined();
  expect(activityCounts({ searches: 1, sites: 0 })).toBe("1 search");
  expect(activityCounts({ searches: 12, sites: 1 })).toBe("12 searches · 1 site");
});
