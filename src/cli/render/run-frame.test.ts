import { expect, test } from "vitest";
import { type Frame, runFrame } from "./run-frame.ts";
import { widthOf } from "./text-width.ts";

const STARTED_AT = "2026-03-01T10:00:00.000Z";
const after = (ms: number): number => Date.parse(STARTED_AT) + ms;

const RUN: Frame["run"] = {
  task_id: "3f2a9c1e-0000-4000-8000-000000000000",
  kind: "agent",
  query: "How do heat pumps perform in cold climates?",
  status: "running_async",
  progress: 45,
  progress_is_estimate: true,
  current_action: "Searching: heat pump field tests",
  created_at: STARTED_AT,
  started_at: STARTED_AT,
  cost_usd: 0.42,
  estimated_usd: 1.54,
  usual_minutes: { likely: 6, max: 15 },
  actions: ["cancel"],
  has_report: false,
  tokens: { input: 0, output: 0 },
  usage_final: false,
  activity: { phase: "Searching", searches: 12, sites: 34, latest_sites: [] },
};

const FRAME: Frame = {
  run: RUN,
  now: after(192_000),
  events: [
    { kind: "thought", text: "Taking stock: I begin with what is undisputed and note where the sources differ." },
    { kind: "source", text: "iea.org" },
    { kind: "search", text: "heat pump field tests" },
  ],
};

const frameOf = (more: Partial<Frame["run"]>): Frame => ({ ...FRAME, run: { ...RUN, ...more } });
const doing = (phase: string, searches: number, sites: number) => ({
  activity: { phase, searches, sites, latest_sites: [] },
});

test("the expected cost has its range, where one is known (J1)", () => {
  const shown = (estimate: Frame["run"]["estimate"]): string =>
    runFrame(frameOf({ cost_usd: undefined, estimate }), { columns: 100, rows: 24 })[3] ?? "";
  expect(shown({ min_usd: 1.1, likely_usd: 1.7, max_usd: 2.9 })).toContain("· about $1.70 total ($1.10 to $2.90)");
  expect(shown({ likely_usd: 1.7 })).toMatch(/· about \$1\.70 total$/);
});

test("the frame shows question, state, times, cost, action and timeline (J2, J3)", () => {
  expect(runFrame(FRAME, { columns: 61, rows: 24 })).toMatchInlineSnapshot(`
    [
      "How do heat pumps perform in cold climates?",
      "Running  ███████████████░░░░░░░░░░░░░░░░░░░  45 % (estimate)",
      "Searching · 12 searches · 34 sites",
      "3 min 12 s, about 3 min left",
      "$0.42 so far, about $1.54 total",
      "Now: Searching: heat pump field tests",
      "",
      "· Taking stock: I begin with what is undisputed and note",
      "  where the sources differ.",
      "+ iea.org",
      "› heat pump field tests",
      "",
      "Press Ctrl-C to leave. The research keeps running.",
    ]
  `);
});

test("counts are left out before there are any, and past the usual time there is no number (J2, J3)", () => {
  const space = { columns: 80, rows: 24 };
  const early = runFrame(frameOf(doing("Planning", 0, 0)), space);
  expect(early[2]).toBe("Planning");
  expect(runFrame(frameOf(doing("Searching", 1, 0)), space)[2]).toBe("Searching · 1 search");
  const late = runFrame({ ...FRAME, now: after(15 * 60_000) }, space);
  expect(late[3]).toBe("15 min 0 s, longer than usual · $0.42 so far, about $1.54 total");
});

test("a small window shows no counts", () => {
  expect(runFrame(FRAME, { columns: 80, rows: 7 }).join("\n")).not.toContain("34 sites");
});

test.each([
  [20, 5],
  [40, 12],
  [80, 24],
  [200, 60],
  [9, 3],
  [1, 1],
])("the frame fits %i × %i with a line to spare, whatever it shows", (columns, rows) => {
  const long = frameOf({
    query: "日本の状況 ".repeat(50),
    current_action: "word ".repeat(100),
    stalled_since: STARTED_AT,
  });
  const events = Array.from({ length: 40 }, (_, index) => ({
    kind: "thought",
    text: `${index} ${"words ".repeat(60)}`,
  }));
  for (const frame of [FRAME, { ...long, events }]) {
    const lines = runFrame(frame, { columns, rows });
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    for (const line of lines) expect(widthOf(line)).toBeLessThan(Math.max(9, columns));
  }
});

test("the frame warns of a silent run (J3)", () => {
  const lines = runFrame({ ...frameOf({ stalled_since: STARTED_AT }), now: after(660_000) }, { columns: 80, rows: 24 });
  expect(lines.join(" ")).toContain(
    "No activity for 11 min 0 s; it may be stuck. To cancel it: gemini-search-mcp cancel 3f2a9c1e",
  );
});

test("the newest events are kept when there is no room for all", () => {
  const events = Array.from({ length: 40 }, (_, index) => ({ kind: "search", text: `search ${index}` }));
  const lines = runFrame({ ...FRAME, events }, { columns: 80, rows: 14 });
  expect(lines).toContain("› search 39");
  expect(lines).not.toContain("› search 0");
});

test("the frame of the demo does not promise that the research continues (A2)", () => {
  const space = { columns: 80, rows: 24 };
  expect(runFrame(FRAME, space).at(-1)).toBe("Press Ctrl-C to leave. The research keeps running.");
  expect(runFrame(FRAME, { ...space, isDemo: true }).at(-1)).toBe("Press Ctrl-C to end the demo.");
});
