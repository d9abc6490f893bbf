import { expect, test } from "vitest";
import { type Cost, NO_COST } from "../../costs/actual.ts";
import type { FinishedFigures } from "../../runs/history/figures-store.ts";
import { summarise } from "./figures.ts";
import { bar, figuresView } from "../render/figures-view.ts";
import { unpainted } from "../render/paint.ts";
import { widthOf } from "../render/text-width.ts";

const paid = (usd: number): Cost => ({ usd, incomplete: false, estimated: false });

const run = (at: string, minutes: number, more: Partial<FinishedFigures> = {}): FinishedFigures => ({
  taskId: "x",
  kind: "agent",
  query: "q",
  status: "completed",
  startedAt: Date.parse(at) - minutes * 60_000,
  completedAt: Date.parse(at),
  cost: paid(1.5),
  judgeCost: NO_COST,
  estimate: { usd: { min: 1, likely: 1, max: 3 }, minutes: { min: 1, likely: 10, max: 20 } },
  ...more,
});

const RUNS = [
  run("2026-10-03T10:00:00Z", 8),
  run("2026-11-03T10:00:00Z", 6, { cost: paid(0.5) }),
  run("2026-11-04T10:00:00Z", 10),
  run("2026-11-05T10:00:00Z", 1, { status: "failed", cost: NO_COST }),
  run("2026-11-06T10:00:00Z", 0.1, { kind: "search", cost: paid(0.01), estimate: {} }),
];

test("the figures are summed by month, and compared with estimates where both are known", () => {
  expect(summarise(RUNS)).toEqual({
    months: [
      { month: "2026-10", runs: 1, cost_usd: 1.5, median_minutes: 8 },
      { month: "2026-11", runs: 4, cost_usd: 2.01, median_minutes: 3.5 },
    ],
    cost_usd: { runs: 3, estimated: 1, actual: 1.5, off_percent: 50 },
    minutes: { runs: 3, estimated: 10, actual: 8, off_percent: -20 },
  });
});

test("judged citations are part of the cost of a month, and not compared with estimates (W3)", () => {
  const judged = [run("2026-11-03T10:00:00Z", 6, { cost: paid(1), judgeCost: paid(0.25) })];
  const figures = summarise(judged);
  expect(figures).toMatchObject({ judge_cost_usd: 0.25, months: [{ cost_usd: 1.25 }], cost_usd: { actual: 1 } });
  const text = figuresView(
    { total_runs: 1, unfinished_runs: 0, total_cost_usd: 1.25, ...figures },
    { width: 80, paint: unpainted },
  );
  expect(text).toContain("$0.25 of it for judged citations.");
});

test.each([30, 50, 80, 200])("the figures fit %i columns", (width) => {
  const text = figuresView(
    { total_runs: 5, unfinished_runs: 0, total_cost_usd: 3.51, ...summarise(RUNS) },
    { width, paint: unpainted },
  );
  for (const line of text.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(width);
  expect(text).toContain("5 runs, $3.51 total");
  expect(text.replaceAll("\n", " ")).toContain("Typical cost: $1.50, 50 % above the $1.00 estimate (3 runs).");
});

test("an empty history is reported as such, and bars are to scale", () => {
  const none = figuresView(
    { total_runs: 0, unfinished_runs: 0, total_cost_usd: 0, months: [] },
    { width: 80, paint: unpainted },
  );
  expect(none).toBe("0 runs, $0.00 total. No run has finished yet.");
  expect([bar(0, 10), bar(0.001, 10), bar(0.5, 10), bar(1, 10)]).toEqual(["", "▏", "█████", "██████████"]);
});

test("the percentage is that of the medians beside it, and a median below a minute is in seconds (P6)", () => {
  const estimate = (usd: number) => ({
    usd: { min: 1, likely: usd, max: 9 },
    minutes: { min: 1, likely: 10, max: 20 },
  });
  const runs = [
    run("2026-11-03T10:00:00Z", 0.1, { cost: paid(2), estimate: estimate(1) }),
    run("2026-11-04T10:00:00Z", 0.1, { cost: paid(3), estimate: estimate(4) }),
    run("2026-11-05T10:00:00Z", 0.1, { cost: paid(1), estimate: estimate(2) }),
  ];
  const figures = { total_runs: 4, unfinished_runs: 1, total_cost_usd: 6, ...summarise(runs) };
  const text = figuresView(figures, { width: 80, paint: unpainted });
  expect(text).toContain("4 runs (1 unfinished), $6.00 total");
  expect(text).toContain("Typical cost: $2.00, as estimated (3 runs).");
  expect(text).toContain("Typical time: 6 s, 99 % below the 10 min estimate (3 runs).");
  expect(text).toMatch(/2026-11 +3 +6 s/);
});

test("no line of the figures ends in spaces (P6)", () => {
  const free = [run("2026-10-03T10:00:00Z", 8, { cost: NO_COST }), run("2026-11-03T10:00:00Z", 8)];
  const figures = { total_runs: 2, unfinished_runs: 0, total_cost_usd: 1.5, ...summarise(free) };
  expect(figuresView(figures, { width: 80, paint: unpainted })).not.toMatch(/ $/m);
  const painted = figuresView(figures, { width: 80, paint: (_style, text) => `<${text}>` });
  expect(painted).not.toMatch(/ (?:<>)?$/m);
});
