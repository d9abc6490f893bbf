import { expect, test } from "vitest";
import { listView, type RunList } from "./list-view.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const SPACE = {
  paint: (_style: unknown, text: string) => text,
  link: (text: string) => text,
  now: NOW,
  isDemo: false,
  stored: async () => undefined,
};

const run = (n: number, more: Partial<RunList["runs"][number]> = {}): RunList["runs"][number] => ({
  task_id: `0000000${n}-0000-4000-8000-000000000000`,
  kind: "search",
  query: `Question ${n}?`,
  title: undefined,
  follow_up: undefined,
  tags: undefined,
  imported: undefined,
  starred: undefined,
  archived: undefined,
  status: "completed",
  progress: 100,
  error_code: undefined,
  created_at: "2026-11-16T11:00:00.000Z",
  completed_at: undefined,
  cost_usd: undefined,
  cost_incomplete: undefined,
  cost_estimated: undefined,
  found: undefined,
  ...more,
});

const lines = (runs: RunList["runs"], width: number | undefined, roots?: RunList["roots"]): string[] =>
  listView(
    { success: true, caution: undefined, next_cursor: undefined, left_out: undefined, roots, runs },
    { ...SPACE, width },
  ).split("\n");

test("a titled run is listed by its title, a starred one with a star, an archived one is marked among others", () => {
  const titled = run(1, { title: "Heating our house", starred: true, tags: ["home", "2026"] });
  const archived = run(2, { archived: true });
  const [, first, second] = lines([titled, archived], 80);
  expect(first).toMatch(/ ★ #home #2026 Heating our house$/);
  expect(second).toMatch(/ \[archived\] Question 2\?$/);
  expect(lines([archived], 80)[1]).toMatch(/ Question 2\?$/);
});

test("for scripts the columns stay, and the last is the question", () => {
  const [line = ""] = lines([run(1, { title: "Heating our house", starred: true })], undefined);
  expect(line.split("\t")).toEqual([
    "00000001-0000-4000-8000-000000000000",
    "completed",
    "search",
    "2026-11-16T11:00:00.000Z",
    "",
    "Question 1?",
  ]);
});

test("a passage that repeats the question is left out, another one is below its run (Q2)", () => {
  expect(lines([run(1, { found: "Question\n1?" }), run(2, { found: "…a report about it." })], 80)).toHaveLength(4);
  expect(lines([run(1, { title: "Heating", found: "Question 1?" })], 80)[2]).toMatch(/^ +Question 1\?$/);
});

test("follow-ups are folded below their run, where the newest is; a plan that waits narrows no question (A12, Z1)", () => {
  const runs = [run(3, { follow_up: true }), run(2, { status: "awaiting_approval" }), run(1)];
  const [, first, later, plan, ...more] = lines(runs, 80, { [run(3).task_id]: run(1).task_id });
  expect(first).toMatch(/^00000001 .* Question 1\?$/);
  expect(later).toBe("          + 1 follow-up");
  expect(plan).toMatch(/^00000002 {2}plan .* Question 2\?$/);
  expect(more).toEqual([]);
  const failed = [run(3, { follow_up: true, status: "failed" }), run(1)];
  expect(lines(failed, 80, { [run(3).task_id]: run(1).task_id })[2]).toBe("          + 1 follow-up, failed");
  // Its run is on another page of the list.
  expect(lines(runs, 80)).toHaveLength(4);
  expect(lines(runs, undefined, { [run(3).task_id]: run(1).task_id })).toHaveLength(3);
});
