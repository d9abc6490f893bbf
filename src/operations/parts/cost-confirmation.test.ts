import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../test/kit/log.ts";
import { openApp } from "../../../test/kit/store/operation-deps.ts";
import type { Budgets, BudgetState } from "../../costs/budget.ts";
import { costCalculator } from "../../costs/actual.ts";
import type { Estimate } from "../../costs/estimate.ts";
import { LIST_PRICES } from "../../costs/prices.ts";
import { systemClock } from "../../platform/clock.ts";
import { refusalAbove } from "../../runs/ledger/hard-limit.ts";
import { openStore } from "../../store/store.ts";
import { costQuestion, refuseAboveBudget, requireCostConsent } from "./cost-confirmation.ts";
import type { Call, OperationDeps, ResearchParts } from "../operation.ts";
import { startDeepResearch } from "../start-deep-research.ts";

const ABOUT = { operation: "start_deep_research", input: "a hash" };
const START = { about: ABOUT, query: "How do heat pumps perform in cold climates?", agent: "an-agent" };

function countingDeps(): { deps: OperationDeps; computed: () => number } {
  let computed = 0;
  const { deps } = openApp();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the question reads nothing else of it
  const estimate = { usd: { min: 1, likely: 6.5, max: 9.25 }, agent: "an-agent" } as Estimate;
  return {
    deps: {
      ...deps,
      settings: { ...deps.settings, confirmAboveUsd: 5 },
      estimate: async () => {
        computed += 1;
        return estimate;
      },
      agent: async () => Object.create(null),
      research: async () => Object.assign(Object.create(null), { obstacle: async () => undefined }),
    },
    computed: () => computed,
  };
}

test("the consent to a start is checked against the estimate that is stored with it (M1)", async () => {
  const { deps, computed } = countingDeps();
  expect(await costQuestion(deps, { owner: "local" }, START)).toBeDefined();
  const { checkCost, estimate } = await requireCostConsent(deps, { owner: "local" }, START);
  expect(() => checkCost([])).toThrow("about $6.50");
  expect(estimate).toMatchObject({ usd: { likely: 6.5 } });
  expect(computed()).toBe(2);
});

test("a start computes its estimate once, for its limit and its record (M1)", async () => {
  const { deps, computed } = countingDeps();
  const call: Call = {
    owner: "local",
    client: undefined,
    from: "here",
    signal: AbortSignal.abort(),
    progress: () => {},
  };
  const research = Object.assign(Object.create(null), {
    obstacle: async () => undefined,
    research: { leaving: deps.leaving },
  });
  const input = {
    query: START.query,
    model: "an-agent",
    enable_notifications: false,
    max_wait_hours: 8,
    force_new: false,
    plan: false,
  };
  const starting = startDeepResearch.run({ ...deps, research: async () => research }, input, call);
  await expect(starting).rejects.toMatchObject({ code: "CANCELLED" });
  expect(computed()).toBe(1);
});

test("the dialog's one line names the amount within its first 80 characters (T28)", async () => {
  const { deps } = countingDeps();
  const question = await costQuestion(deps, { owner: "local" }, START);
  expect(question?.ask).toBe("Start this research for about $6.50 (up to $9.25)? Your limit is $5.");
  expect(question?.ask.indexOf("$6.50")).toBeLessThan(80);
});

test("a restart that may be charged twice asks about both amounts (Q1)", async () => {
  const { deps } = countingDeps();
  const question = await costQuestion(deps, { owner: "local" }, { ...START, charges: 2 });
  expect(question?.ask).toContain("about $13 (up to $18.50)");
  expect(question?.because).toContain("about $13 (up to $18.50)");
});

const RENEWS_AT = Date.parse("2026-11-20T00:00:00Z");
const day = (usedUsd: number): BudgetState[] => [
  { name: "BUDGET_DAY_USD", soft: 20, hard: 30, usedUsd, renewsAt: RENEWS_AT },
];

test("above the soft budget a start is asked about with the sum, and above the hard one refused whatever the user says (T28)", async () => {
  const { deps } = countingDeps();
  const generous = { ...deps, settings: { ...deps.settings, confirmAboveUsd: 10 } };
  const { checkCost } = await requireCostConsent(generous, { owner: "local" }, START);
  expect(checkCost(day(10.75))).toBe(false);
  expect(() => checkCost(day(10.76))).toThrow(
    "This research will cost about $6.50 (up to $9.25) with an-agent, more than is left: $10.76 of today's budget of $20 is used or reserved, which renews at 2026-11-20 00:00 UTC.",
  );
  const agreed = { ...ABOUT, max_usd: 9.25 };
  const { checkCost: confirmed } = await requireCostConsent(generous, { owner: "local", agreed }, START);
  expect([confirmed(day(0)), confirmed(day(20.75))]).toEqual([true, true]);
  expect(() => confirmed(day(20.76))).toThrow(
    expect.objectContaining({
      code: "BUDGET_EXCEEDED",
      message:
        "$20.76 of today's budget of $30 is used or reserved. This research may cost up to $9.25. Nothing was started or charged.",
      details: {
        budget: "BUDGET_DAY_USD",
        max_usd: 9.25,
        limit_usd: 30,
        used_usd: 20.76,
        left_usd: 9.24,
        renews_at: "2026-11-20T00:00:00.000Z",
      },
    }),
  );
});

test("a restart without a price today is refused by what is reserved for it (I18, T28)", async () => {
  const { deps } = countingDeps();
  const unpriced = { ...deps, estimate: async () => undefined };
  const agreed = { ...ABOUT };
  const { checkCost } = await requireCostConsent(unpriced, { owner: "local", agreed }, { ...START, charges: 2 });
  expect(checkCost(day(20), 9.25)).toBe(true);
  expect(() => checkCost(day(21), 9.25)).toThrow(expect.objectContaining({ code: "BUDGET_EXCEEDED" }));
});

const recorderOf = (obstacle: ResearchParts["obstacle"]) =>
  Object.assign(Object.create(null), { costOf: costCalculator(LIST_PRICES), obstacle });

test("a search is refused before it is stored only if a request to its own model has no room (T28)", async () => {
  const { deps } = openApp();
  const recorder = async () => recorderOf(async () => undefined);
  const refuse = (searchModel: string | undefined) => {
    const settings = { ...deps.settings, searchModel, budgets: { run: { hard: 0.2 } } };
    return refuseAboveBudget({ ...deps, recorder, settings }, { owner: "local" });
  };
  await expect(refuse(undefined)).rejects.toMatchObject({
    code: "BUDGET_EXCEEDED",
    details: { max_usd: expect.closeTo(0.26) },
  });
  await refuse("gemini-2.5-flash");
});

test("requests that cost less than a cent are not rounded away, and exactly the limit of a run has room (T28)", () => {
  const spending = { what: "request", undone: "It was not sent." };
  const budgets = { run: { soft: 0.3, hard: 0.3 } };
  expect(refusalAbove(budgets, [], { ...spending, usedUsd: 0.1, maxUsd: 0.2 })).toBeUndefined();
  expect(refusalAbove(budgets, [], { ...spending, usedUsd: 0.002, maxUsd: 0.3 })).toMatchObject({
    message:
      "The limit of a run is $0.30. $0.0020 of it is used or reserved. This request may cost up to $0.30. It was not sent.",
    details: { used_usd: 0.002 },
  });
  expect(refusalAbove(budgets, [], { ...spending, usedUsd: 0.4, maxUsd: undefined })?.message).toBe(
    "The limit of a run is $0.30. $0.40 of it is used or reserved. It was not sent.",
  );
});

test("with a hard limit nothing is searched where the database is not kept, and without one it is (T28, P5)", async () => {
  const { deps } = openApp();
  const store = await openStore({
    file: "/proc/none/research.db",
    shared: undefined,
    clock: systemClock,
    log: silentLog,
  });
  onTestFinished(() => store.close());
  const recorder = async () => recorderOf(store.obstacle);
  const refuse = (budgets: Budgets) => {
    const settings = { ...deps.settings, budgets };
    return refuseAboveBudget({ ...deps, database: async () => store.db, recorder, settings }, { owner: "local" });
  };
  const hard: Budgets = { BUDGET_DAY_USD: { soft: 20, hard: 30 } };
  await expect(refuse(hard)).rejects.toThrow(/A hard limit on costs cannot be checked, so nothing was searched\.$/);
  await refuse({ BUDGET_DAY_USD: { soft: 20 } });
});

test("a restart without a price today gets no estimate, so that it keeps that of its first start (T28)", async () => {
  const { deps } = countingDeps();
  const without = { ...deps, estimate: async () => undefined };
  const { estimate } = await requireCostConsent(without, { owner: "local" }, START);
  expect(estimate).toBeUndefined();
});
