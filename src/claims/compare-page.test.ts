import { describe, expect, test } from "vitest";
import { bestPassages } from "./best-passages.ts";
import { comparePage } from "./compare-page.ts";
import { disagreement } from "./disagreement.ts";
import { quantitiesIn } from "./language/quantities.ts";

const claim = (text: string, context: string[] = []) => ({ text, context, headings: [] });

const PAGE = {
  title: "Norda AG reports results",
  blocks: [
    "The pump maker Norda AG increased revenue by 6.2 percent to 1.94 billion Swiss francs in the first quarter of 2026. Net profit fell to 112 million francs from 131 million a year earlier.",
    "The company employs 8,450 people at 23 sites. The board could propose a dividend of 3.20 francs per share.",
    "Unemployment rate, percent: Corvel: 2025: 8.4",
  ],
};

const verdictOf = (text: string, page = PAGE): string => comparePage(claim(text), page).verdict;

describe("a claim that the page states (W2)", () => {
  test.for([
    "Norda increased revenue by 6.2% to CHF 1.94bn in Q1 2026.",
    "Net profit fell to 112 million francs from 131 million a year earlier.",
    "The company employs 8,450 people.",
    "The unemployment rate in Corvel was 8.4 percent in 2025.",
  ])("%s", (text) => {
    expect(verdictOf(text)).toBe("supported");
  });

  test("is weak if the page is less certain, and the passage is named", () => {
    expect(comparePage(claim("The board proposes a dividend of 3.20 francs per share."), PAGE).verdict).not.toBe(
      "supported",
    );
    expect(comparePage(claim("The company employs 8,450 people."), PAGE).passage).toContain("at 23 sites");
  });
});

describe("a claim that the page does not state is not confirmed, and never called unsupported (W2)", () => {
  test.for([
    "Norda increased revenue by 6.2 percent to 1.94 billion euros in the first quarter of 2026.",
    "Net profit rose to 131 million francs from 112 million a year earlier.",
    "The company does not employ 8,450 people.",
    "The unemployment rate in Corvel was 8.4 percent in 2024.",
    "Norda employs 9 people.",
    "La société emploie 8450 personnes.",
  ])("%s", (text) => {
    const { verdict, reason } = comparePage(claim(text), PAGE);
    expect(verdict).toBe("not_confirmed");
    expect(reason).toMatch(/\.$/);
  });

  test("a claim in another language than the page is not compared", () => {
    expect(comparePage(claim("La société emploie 8450 personnes."), PAGE).reason).toContain("languages");
  });

  test("a label that the sentence depends on must be on the page, too", () => {
    expect(comparePage(claim("8,450 people", ["Orbis", "Employees"]), PAGE).verdict).toBe("not_confirmed");
    const labelled = { title: "Pumps", blocks: ["The pump maker has 8,450 employees. Norda sold it."] };
    const verdictUnder = (label: string): string =>
      comparePage(claim("The pump maker has 8,450 employees.", [label]), labelled).verdict;
    expect([verdictUnder("Norda"), verdictUnder("Orbis")]).toEqual(["supported", "not_confirmed"]);
  });
});

describe("a quotation cannot support a claim (W2)", () => {
  test.for([
    ["Profit was 5 million euros.", "Profit was 6 million euros.", "figure"],
    ["Profit was 5 million euros.", "Profit was 5 million dollars.", "unit"],
    ["It opened in May 2024.", "It opened in May 2023.", "date"],
    ["The drug is effective in children.", "The drug is not effective in children.", "negation"],
    ["Sales rose by 5 percent.", "Sales fell by 5 percent.", "direction"],
    ["it is safe for children", "It was not shown that it is safe for children", "negation"],
    ["Die Kosten betragen 1.500 Euro.", "The costs are 1,600 euros.", "figure"],
  ] as const)("%s | %s", ([text, quote, reason]) => {
    expect(disagreement(text, quote)).toContain(reason);
  });

  test("unless everything agrees, in any notation", () => {
    expect(
      disagreement("Profit was €5m on 3 May 2024.", "On May 3, 2024 it reported a profit of 5 million euros."),
    ).toBe(undefined);
    expect(disagreement("Die Kosten betragen 1.500 Euro.", "The costs are 1,500 euros.")).toBe(undefined);
    expect(disagreement("The lake holds 500 boats.", "The lake holds about 500 boats.")).toBe(undefined);
  });
});

test("the best passages come first and contain the claim's figures (W2)", () => {
  const [first, ...rest] = bestPassages(claim("Norda has 8,450 employees."), PAGE, 2);
  expect(first).toContain("8,450 people");
  expect(rest).toHaveLength(1);
  expect(bestPassages(claim("Zebras graze."), PAGE, 2)).toEqual([]);
});

test("the language of a page is recognised by its running text, not by its tables (W2)", () => {
  const cells = Array.from({ length: 60 }, (_unused, n) => `Tests: Modell ${n}: Preis: ${n} EUR`);
  const page = { title: "Tests", blocks: ["The shop in Bell was opened by the mayor in 2019.", ...cells] };
  expect(verdictOf("The shop in Bell was opened in 2019.", page)).toBe("supported");
});

test("only a code in capitals is a currency (W2)", () => {
  expect(quantitiesIn("They rub 5 spices into meat for RUB 90.", "en")).toMatchObject([
    { value: 5, unit: "" },
    { value: 90, unit: "RUB" },
  ]);
});
