import { expect, test } from "vitest";
import type { RunHead } from "../../../operations/view/run-view.ts";
import type { ListedRun } from "../../wire.ts";
import { apiPath, listPath, readFilter, withUpdates } from "./list.ts";

const run = (id: string, minute: number, more: Partial<RunHead> = {}): ListedRun => ({
  task_id: id,
  kind: "agent",
  query: `question ${id}`,
  status: "completed",
  progress: 100,
  current_action: "Done",
  created_at: `2026-03-01T10:${String(minute).padStart(2, "0")}:00.000Z`,
  ...more,
});
const filterOf = (address: string) => readFilter(new URLSearchParams(address));
const ids = (runs: RunHead[]): string[] => runs.map((listed) => listed.task_id);

test("the filter is written to the address and read back", () => {
  const filter = filterOf("text=+heat+pumps+&status=failed&kind=agent&cursor=abc");
  expect(filter).toEqual({
    text: "heat pumps",
    status: "failed",
    kind: "agent",
    starred: "",
    archived: "",
    cursor: "abc",
  });
  expect(filterOf(listPath(filter, { cursor: "abc" }).slice(2))).toEqual(filter);
  expect(apiPath(filter)).toBe("/api/runs?text=heat+pumps&status=failed&kind=agent&cursor=abc&limit=100");
});

test("another filter starts at its first page, and no filter is the plain address", () => {
  expect(listPath(filterOf("cursor=abc"), { status: "failed" })).toBe("/?status=failed");
  expect(listPath(filterOf("text=a&cursor=b"), { text: "" })).toBe("/");
  expect(apiPath(filterOf("archived=true"))).toBe("/api/runs?archived=true&limit=100");
  expect(listPath(filterOf("archived=true&text=a"), { archived: "", starred: "true" })).toBe("/?text=a&starred=true");
});

test("words that look like an address are searched as words", () => {
  const path = listPath(filterOf(""), { text: "a&status=failed#x?" });
  expect(filterOf(path.slice(2)).text).toBe("a&status=failed#x?");
  expect(filterOf(path.slice(2)).status).toBe("");
});

test("a changed run is updated in place and keeps its excerpt", () => {
  const found = [{ text: "heat", marked: true }];
  const listed = [run("c", 3), { ...run("b", 2, { status: "running" }), found }, run("a", 1)];
  const next = withUpdates(listed, [run("b", 2, { status: "failed" }), run("z", 9)]);
  expect(ids(next)).toEqual(["c", "b", "a"]);
  expect(next[1]).toMatchObject({ status: "failed", found });
  expect(next[0]).toBe(listed[0]);
});
