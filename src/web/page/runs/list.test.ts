import { expect, test } from "vitest";
import type { RunHead } from "../../../operations/view/run-view.ts";
import type { ListedRun } from "../../wire.ts";
import { apiPath, conversationsOf, isFreeFailure, listPath, readFilter, withUpdates } from "./list.ts";

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
    tag: "",
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

test("a question with its follow-ups is one entry, where its newest run is (Z1)", () => {
  const followUp = run("f", 9, { followup_context: "google" });
  const runs = [{ ...followUp, root_id: "a" }, run("b", 5), run("a", 1), { ...followUp, task_id: "g", root_id: "z" }];
  const entries = conversationsOf({ runs, roots: [run("z", 0)] });
  expect(entries.map(({ first, later }) => [first.task_id, ids(later)])).toEqual([
    ["a", ["f"]],
    ["b", []],
    ["z", ["g"]],
  ]);
  expect(entries[0]?.leading.task_id).toBe("f");
});

test("only a failed start that cost nothing and was never continued is left out of the list (Z1)", () => {
  const isLeftOut = (more: Partial<RunHead>, later: ListedRun[] = []): boolean =>
    isFreeFailure({ first: run("a", 1, more), later, leading: run("a", 1, more) });
  expect(isLeftOut({ status: "failed", cost_usd: 0 })).toBe(true);
  expect(isLeftOut({ status: "failed", cost_usd: 0.01 })).toBe(false);
  expect(isLeftOut({ status: "failed" })).toBe(false);
  expect(isLeftOut({ status: "completed", cost_usd: 0 })).toBe(false);
  expect(isLeftOut({ status: "failed", cost_usd: 0 }, [run("b", 2)])).toBe(false);
});
