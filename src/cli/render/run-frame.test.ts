import { expect, test } from "vitest";
import { runFrame, type RunState } from "./run-frame.ts";
import { widthOf } from "./text-width.ts";

const RUN: RunState = {
  shortId: "3f2a9c1e",
  query: "How do heat pumps perform in cold climates?",
  status: "running_async",
  progress: 45,
  progressIsEstimate: true,
  elapsedMs: 192_000,
  likelyMinutesLeft: 3,
  cost: "$0.42",
  likelyUsd: 1.54,
  action: "Searching: heat pump field tests",
  silentMs: undefined,
  events: [
    { kind: "thought", text: "Taking stock: I begin with what is undisputed and note where the sources differ." },
    { kind: "search", text: "heat pump field tests" },
  ],
};

test("the frame shows question, state, times, cost, action and timeline (J2, J3)", () => {
  expect(runFrame(RUN, { columns: 61, rows: 24 })).toMatchInlineSnapshot(`
    [
      "How do heat pumps perform in cold climates?",
      "Researching  ██████████████░░░░░░░░░░░░░░░░  45 % (estimate)",
      "3 min 12 s, about 3 min left",
      "$0.42 so far, about $1.54 total",
      "Now: Searching: heat pump field tests",
      "",
      "· Taking stock: I begin with what is undisputed and note",
      "  where the sources differ.",
      "› heat pump field tests",
      "",
      "Press Ctrl-C to leave. The research keeps running.",
    ]
  `);
});

test.each([
  [20, 5],
  [40, 12],
  [80, 24],
  [200, 60],
  [9, 3],
  [1, 1],
])("the frame fits %i × %i with a line to spare, whatever it shows", (columns, rows) => {
  const long = { ...RUN, query: "日本の状況 ".repeat(50), action: "word ".repeat(100), silentMs: 700_000 };
  const events = Array.from({ length: 40 }, (_, index) => ({
    kind: "thought",
    text: `${index} ${"words ".repeat(60)}`,
  }));
  for (const run of [RUN, { ...long, events }]) {
    const lines = runFrame(run, { columns, rows });
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    for (const line of lines) expect(widthOf(line)).toBeLessThan(Math.max(9, columns));
  }
});

test("the frame warns of a silent run (J3)", () => {
  const lines = runFrame({ ...RUN, silentMs: 660_000 }, { columns: 80, rows: 24 });
  expect(lines.join(" ")).toContain(
    "No activity for 11 min 0 s; it may be stuck. To stop it: gemini-search-mcp stop 3f2a9c1e",
  );
});

test("the newest events are kept when there is no room for all", () => {
  const events = Array.from({ length: 40 }, (_, index) => ({ kind: "search", text: `search ${index}` }));
  const lines = runFrame({ ...RUN, events }, { columns: 80, rows: 14 });
  expect(lines).toContain("› search 39");
  expect(lines).not.toContain("› search 0");
});
