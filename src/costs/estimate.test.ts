import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_AGENT } from "../gemini/research-agent.ts";
import { COMPLEXITIES, type Complexity, complexityOf } from "./complexity.ts";
import { estimate, type Estimate, type FinishedRun } from "./estimate.ts";
import { LIST_PRICES } from "./prices.ts";

const MAX_AGENT = "deep-research-max-preview-04-2026";
const NOW = Date.parse("2026-11-15T12:00:00Z");

/** One question of each class. */
const QUERIES: Record<Complexity, string> = {
  simple: "What is the current price of copper?",
  medium: "Compare heat pumps and gas boilers for old buildings",
  complex:
    "Compare the EV battery market in China, the US and Europe from 2015 to 2025: technology trends, market share of each manufacturer, and regulatory outlook.",
};

function estimateFor(
  query: string,
  { history = [], agent = DEFAULT_AGENT }: { history?: FinishedRun[]; agent?: string } = {},
) {
  const found = estimate({ query, agent, prices: LIST_PRICES, history, syncWindowMs: 20_000, now: NOW });
  if (found === undefined) throw new Error("no estimate");
  return found;
}

const rank = (complexity: Complexity): number => COMPLEXITIES.indexOf(complexity);

const WORDS = [
  ..."compare versus all history_of since_1990 2010 the_market Vergleich jede trend Berlin and over timeline".split(
    " ",
  ),
  ..."pros_and cons \n-_item \n2)_item ? , ； 比较 why".split(" "),
].map((word) => word.replaceAll("_", " "));

const phrase = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join(" ")),
);

const run = fc.record({
  complexity: fc.constantFrom(...COMPLEXITIES),
  model: fc.constantFrom(DEFAULT_AGENT, MAX_AGENT),
  durationMs: fc.integer({ min: -1, max: 3 * 3_600_000 }),
  costUsd: fc.option(fc.double({ min: 0, max: 50, noNaN: true }), { nil: undefined }),
  searches: fc.nat({ max: 200 }),
});

describe("the class of a question", () => {
  test.each([
    ["simple", "capital of France"],
    ["simple", QUERIES.simple],
    ["simple", "Wie hoch ist der Mindestlohn in Deutschland?"],
    ["simple", "日本の首都はどこですか"],
    ["medium", QUERIES.medium],
    ["medium", "Research the history of Google TPUs"],
    ["medium", "Research the competitive landscape of EV batteries."],
    ["medium", "Vergleiche Wärmepumpe und Gasheizung im Altbau"],
    ["medium", "Entwicklung der Strompreise in Deutschland seit 2010"],
    ["medium", "Quelles sont les différences entre le PACS et le mariage ?"],
    ["medium", "2015年から2025年までの電気自動車市場を比較してください"],
    ["complex", QUERIES.complex],
    [
      "complex",
      "Analysiere den weltweiten Markt für Wärmepumpen von 2015 bis 2025: Vergleiche alle großen Hersteller in Europa, China und den USA, ihre Strategien, Marktanteile und die Auswirkungen der Regulierung.",
    ],
    ["complex", "For each of these, find the price, the maker and the risks:\n- a\n- b\n- c\n- d\n- e\n- f\n- g\n- h"],
  ])("is %s: %s (M1)", (complexity, query) => {
    expect(complexityOf(query)).toBe(complexity);
  });

  test("never becomes cheaper when the question asks for more (M2)", () => {
    const joint = fc.constantFrom(" ", "\n", ". ", ", ", "\n- ");
    fc.assert(
      fc.property(phrase, joint, phrase, (first, between, second) => {
        const both = rank(complexityOf(`${first}${between}${second}`));
        expect(both).toBeGreaterThanOrEqual(rank(complexityOf(first)));
        expect(both).toBeGreaterThanOrEqual(rank(complexityOf(second)));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("the estimate", () => {
  const inOrder = ({ min, likely, max }: Estimate["usd"]): boolean => min <= likely && likely <= max;
  const notAbove = (lower: Estimate["usd"], upper: Estimate["usd"]): boolean =>
    lower.min <= upper.min && lower.likely <= upper.likely && lower.max <= upper.max;

  test("without own runs is the published range, and higher for a complex query (M1, M2)", () => {
    for (const [agent, usd, minutes] of [
      [DEFAULT_AGENT, { min: 0.7, likely: 1.4, max: 3 }, { min: 3, likely: 7.7, max: 20 }],
      [MAX_AGENT, { min: 3, likely: 5.6, max: 11 }, { min: 6, likely: 15, max: 40 }],
    ] as const) {
      const [simple, medium, complex] = COMPLEXITIES.map((complexity) => estimateFor(QUERIES[complexity], { agent }));
      expect(medium).toMatchObject({ usd, minutes });
      expect(complex?.usd.likely).toBeGreaterThan(medium?.usd.likely ?? Number.NaN);
      expect(complex?.usd.max).toBeGreaterThan(medium?.usd.max ?? Number.NaN);
      expect(complex?.minutes.max).toBeLessThanOrEqual(60);
      expect(complex?.goAsync).toBe(true);
      expect(complex?.recommendation).toContain("almost certainly run in the background");
      expect(simple?.basedOnRuns).toBe(0);
    }
  });

  test("has no figures for an agent without a price (M1)", () => {
    const request = {
      query: "q",
      agent: "another-agent",
      prices: LIST_PRICES,
      history: [],
      syncWindowMs: 0,
      now: 0,
    };
    expect(estimate(request)).toBeUndefined();
  });

  test("is ordered, min ≤ likely ≤ max and simple ≤ medium ≤ complex, whatever the history (M2)", () => {
    fc.assert(
      fc.property(fc.array(run, { maxLength: 40 }), fc.constantFrom(DEFAULT_AGENT, MAX_AGENT), (history, agent) => {
        const [simple, medium, complex] = COMPLEXITIES.map((complexity) =>
          estimateFor(QUERIES[complexity], { history, agent }),
        );
        if (simple === undefined || medium === undefined || complex === undefined) throw new Error("no estimate");
        for (const { minutes, usd } of [simple, medium, complex]) {
          expect(inOrder(minutes)).toBe(true);
          expect(inOrder(usd)).toBe(true);
        }
        for (const figure of ["minutes", "usd"] as const) {
          expect(notAbove(simple[figure], medium[figure])).toBe(true);
          expect(notAbove(medium[figure], complex[figure])).toBe(true);
        }
        expect(estimateFor(QUERIES.medium, { history, agent })).toEqual(medium);
        const useful = history.filter(
          ({ model, durationMs, costUsd = 0 }) =>
            model === agent && (costUsd > 0 || (durationMs > 0 && durationMs <= 3_600_000)),
        );
        expect(medium.basedOnRuns).toBe(useful.length);
      }),
      { numRuns: 500 },
    );
  });

  const runs = (count: number, one: Partial<FinishedRun>): FinishedRun[] =>
    Array.from({ length: count }, () => ({
      complexity: "medium",
      model: DEFAULT_AGENT,
      durationMs: 240_000,
      costUsd: 0.93,
      searches: 17,
      ...one,
    }));

  test("follows the user's own runs the more closely, the more there are and the less they vary (M2)", () => {
    for (const complexity of COMPLEXITIES) {
      const documented = estimateFor(QUERIES[complexity]).usd;
      const errors = [1, 10, 100].map((count) => {
        const { usd, basedOnRuns } = estimateFor(QUERIES[complexity], {
          history: runs(count, { complexity, costUsd: documented.max }),
        });
        expect(basedOnRuns).toBe(count);
        return Math.abs(usd.likely / documented.max - 1);
      });
      expect(errors).toEqual(errors.toSorted((one, other) => other - one));
      expect(errors[1]).toBeLessThan(0.1);
      expect(errors[2]).toBeLessThan(0.02);
    }
    const varied = [0.3, 3].flatMap((costUsd) => runs(5, { costUsd }));
    const width = (history: FinishedRun[]): number => {
      const { usd } = estimateFor(QUERIES.medium, { history });
      return usd.max / usd.min;
    };
    expect(width(runs(10, {}))).toBeLessThan(3);
    expect(width(varied)).toBeGreaterThan(10);
  });

  test("moves half-way by one run, not at all by runs of another agent, and states its number of runs (M2)", () => {
    const before = estimateFor(QUERIES.medium);
    const one = estimateFor(QUERIES.medium, { history: runs(1, { costUsd: 20 }) });
    expect(one.usd.likely).toBeCloseTo(Math.sqrt(before.usd.likely * 20), 0);
    // The surprise makes the next one less certain, not more.
    expect(one.usd.max / one.usd.min).toBeGreaterThan(before.usd.max / before.usd.min);
    expect(one.recommendation).toContain("1 finished run of your own");
    const otherAgent = estimateFor(QUERIES.medium, { history: runs(50, { model: MAX_AGENT }) });
    expect(otherAgent).toEqual(before);
    expect(otherAgent.recommendation).toContain("you have no finished runs yet");
  });

  test("of an agent that the user's file prices at nothing is nothing (M2)", () => {
    const free = {
      ...LIST_PRICES,
      agents: [{ agent: "deep-research-own", input: 0, output: 0, taskUsd: { min: 0, max: 0 }, durationFactor: 1 }],
    };
    const request = { query: "q", agent: "deep-research-own", prices: free, history: [], syncWindowMs: 0, now: NOW };
    expect(estimate(request)?.usd).toEqual({ min: 0, likely: 0, max: 0 });
  });

  test("knows what a search of the user costs at least, once five runs have shown it (M2)", () => {
    const perSearch = (history: FinishedRun[]) => estimateFor(QUERIES.medium, { history }).minUsdPerSearch;
    expect(perSearch([])).toBe(LIST_PRICES.searchQueryUsd);
    expect(perSearch(runs(4, {}))).toBe(LIST_PRICES.searchQueryUsd);
    expect(perSearch([...runs(4, {}), ...runs(1, { costUsd: 0.85 })])).toBeCloseTo(0.05, 10);
    expect(perSearch(runs(9, { searches: 0 }))).toBe(LIST_PRICES.searchQueryUsd);
  });

  test("ignores the duration, but not the cost, of a run that was collected hours later (M2)", () => {
    const late = estimateFor(QUERIES.medium, { history: runs(10, { durationMs: 9 * 3_600_000 }) });
    expect(late.minutes).toEqual(estimateFor(QUERIES.medium).minutes);
    expect(late.usd.likely).toBeCloseTo(0.93, 0);
  });

  test("says that research of seconds is answered within the call (M1)", () => {
    const quick = estimateFor(QUERIES.simple, { history: runs(40, { complexity: "simple", durationMs: 5_000 }) });
    expect(quick.goAsync).toBe(false);
    expect(quick.recommendation).toContain("answered within the call");
  });
});
