import { describe, expect, test } from "vitest";
import { compareClaims, comparePage } from "./compare-page.ts";
import { compareReports, type ReportChanges } from "./compare-reports.ts";
import { disagreement } from "./conflict.ts";
import { quantitiesIn } from "./figures.ts";
import { splitClaims } from "./split-claims.ts";

const claim = (text: string, context: string[] = []) => ({ text, context });

const PAGE = {
  title: "Norda AG reports results",
  blocks: [
    "Norda AG\u2019s \u201Cgreen\u201D revenue rose by 6.2\u00A0per\u00ADcent.[1] Net profit fell to 112 million francs, although costs were cut.",
    "The company employs 8,450 people at 23 sites; the plant in Bell is the largest. If copper stays cheap, the dividend rises to 3.20 francs.",
    "According to its rival, the company sold 40 mills. 会社は、8450人を雇用している。",
    "Unemployment rate, percent: Corvel: 2025: 8.4",
    "Offices: Corvel: Head: Lena Ostrowski",
  ],
};

const verdictOf = (text: string, context: string[] = []): string => comparePage(claim(text, context), PAGE).verdict;

describe("a claim that the page states literally is confirmed (W2)", () => {
  test.for([
    ["a sentence in another typography", `Norda AG's "green" revenue rose by 6.2 percent.`],
    ["a clause before a comma", "Net profit fell to 112 million francs."],
    ["a clause after a semicolon", "The plant in Bell is the largest."],
    ["a clause in a script without spaces", "8450人を雇用している。"],
  ])("%s", ([, text]) => {
    expect(verdictOf(text ?? "")).toBe("confirmed");
  });

  test("a cell of the report has its row and column in the page's table", () => {
    expect(verdictOf("8.4%", ["Corvel", "2025"])).toBe("confirmed");
    expect(verdictOf("8.4 EUR", ["Corvel", "2025"])).toBe("not_found");
    expect(verdictOf("8.4 million", ["Corvel", "2025"])).not.toBe("confirmed");
    expect(verdictOf("Lena Ostrowski", ["Corvel", "Head"])).toBe("confirmed");
    expect(verdictOf("Lena Ostrowski", ["Bell", "Head"])).toBe("not_found");
  });

  test("a row of the report is confirmed, likely or in conflict by its cells", () => {
    const blocks = ["Prices: X1: Price: 5 EUR", "Prices: X1: Noise: 40 dB", "Prices: X2: Price: 7 EUR"];
    const row = (text: string, head: string) => comparePage(claim(text, [head]), { title: "Pumps", blocks });
    expect(row("Price: 5 EUR | Noise: 40 dB", "X1").verdict).toBe("confirmed");
    expect(row("Price: 6 EUR | Noise: 40 dB", "X1")).toMatchObject({ verdict: "conflict", pageSays: "5 EUR" });
    expect(row("Price: 7 EUR | Noise: 40 dB", "X2")).toMatchObject({
      verdict: "not_found",
      reason: "The page has 1 of 2 values of this row.",
    });
  });

  test("the passage is named as the page has it", () => {
    expect(comparePage(claim("Net profit fell to 112 million francs."), PAGE).passage).toBe(
      "Net profit fell to 112 million francs, although costs were cut.",
    );
  });
});

test.for([
  ["a figure", "Net profit fell to 121 million francs.", "112 million francs"],
  ["a unit", "Net profit fell to 112 million euros.", "112 million francs"],
  ["a direction", "Net profit rose to 112 million francs.", "fell"],
  ["a negation", "The company does not employ 8,450 people.", "company employs"],
  ["a date", "The trial covered 412 homes in three countries between 2020 and 2025.", "2021"],
  ["the number of homes", "The trial covered 512 homes in three countries between 2021 and 2025.", "412"],
  ["a name", "The trial was led by Ana Nowak at the technical university of Lund.", "Eva Lindqvist"],
])("a sentence in conflict with the page's by %s has what the page says (W2)", ([, text = "", says]) => {
  const blocks = [
    ...PAGE.blocks,
    "The trial covered 412 homes in three countries between 2021 and 2025.",
    "It was led by Eva Lindqvist at the technical university of Lund.",
  ];
  const { verdict, pageSays, passage } = comparePage(claim(text), { ...PAGE, blocks });
  expect([verdict, pageSays]).toEqual(["conflict", says]);
  expect(passage).toContain(says);
});

test.for([
  ["another decimal", "revenue of 4.2 billion euros", "revenue of 4.3 billion euros", "conflict"],
  ["further digits", "revenue of 4.2 billion euros", "revenue of 4.18 billion euros", "likely"],
  ["a figure with a zero", "420 homes", "412 homes", "conflict"],
  ["a rounded figure", "400 homes", "412 homes", "not_found"],
  ["more than a rounded figure", "40 homes", "45 homes", "conflict"],
  ["a percentage with a zero", "20 percent", "24 percent", "conflict"],
  ["days with a zero", "10 days", "14 days", "conflict"],
  ["none", "0 deaths", "4 deaths", "conflict"],
  ["about none", "about 0 homes", "4 homes", "not_found"],
  ["a decimal that the page does not have", "12.5 percent", "12.7 percent", "conflict"],
  ["a page that is less precise", "revenue of 4.2 billion euros", "revenue of 4 billion euros", "not_found"],
  ["a page that is more precise", "revenue of 4 billion euros", "revenue of 4.2 billion euros", "likely"],
  ["a page that only estimates", "1,400 people", "about 1,000 people", "not_found"],
  ["the estimate of a page", "1,000 people", "about 1,000 people", "likely"],
  ["a figure that is called rounded", "about 400 homes", "412 homes", "likely"],
  ["a figure that is called rounded by too much", "about 10 days", "14 days", "not_found"],
  ["millions that are called rounded", "about 400 million euros", "412 million euros", "likely"],
  ["a figure that is called rounded and is not", "about 300 homes", "412 homes", "not_found"],
  ["a limit that holds", "more than 400 homes", "412 homes", "likely"],
  ["a lower limit that does not hold", "more than 500 homes", "412 homes", "conflict"],
  ["an upper limit that does not hold", "no more than 400 homes", "412 homes", "conflict"],
  ["the opposite limit", "more than 400 homes", "less than 400 homes", "not_found"],
  ["a day that the page does not name", "homes on 3 May 2024", "homes in 2024", "not_found"],
  ["a year of which the page names the day", "homes in 2024", "homes on 3 May 2024", "likely"],
])("a figure counts as precise as it is written: %s (W2)", ([, said = "", stated = "", verdict]) => {
  const sentence = (figure: string, total = "") =>
    `The company Norda reported for its industrial division in Lund a ${total}volume of work with ${figure}.`;
  const page = { title: "", blocks: [sentence(stated, "total ")] };
  expect(comparePage(claim(sentence(said)), page).verdict).toBe(verdict);
});

test.for([
  ["4.2 billion euros", "4.3 billion euros"],
  ["4.2 billion euros", "4 billion euros"],
  ["4 billion euros", "4.2 billion euros"],
  ["40 metres", "45 metres"],
  ["45 metres", "50 metres"],
  ["400 metres", "412 metres"],
  ["0 metres", "4 metres"],
])("from %s to %s is a change between two reports (W11)", async ([before = "", now = ""]) => {
  expect(await changesBetween(before, now)).toMatchObject({ changed: [{ said: before }], added: [], gone: [] });
});

test.for([
  ["about 40 metres", "41 metres"],
  ["41 metres", "about 40 metres"],
  ["1,500 metres", "1.5 thousand metres"],
])("from %s to %s is no change between two reports (W11)", async ([before = "", now = ""]) => {
  expect(await changesBetween(before, now)).toEqual({ changed: [], added: [], gone: [] });
});

function changesBetween(before: string, now: string): Promise<ReportChanges> {
  const claimsOf = (figure: string) =>
    splitClaims({ report: `The division in Lund reported ${figure} for the whole of that year.`, sources: [] });
  return compareReports({ before: claimsOf(before), now: claimsOf(now) }, new AbortController().signal);
}

test.for([
  ["rounds", "The trial covered about 400 homes in three countries."],
  ["is about another time", "The trial covered 512 homes in three countries between 2026 and 2029."],
  ["says what another sentence of the page says", "The plant covered 512 homes in three countries."],
  ["names a limit", "The trial covered more than 400 homes in three countries."],
])("a claim that %s is in no conflict (W2)", ([, text = ""]) => {
  const blocks = [
    "The trial covered 412 homes in three countries between 2021 and 2025.",
    "The plant, which is in three countries, covered 512 homes.",
  ];
  expect(comparePage(claim(text), { title: "", blocks }).verdict).not.toBe("conflict");
});

describe("in other words than the page's (W2)", () => {
  const page = {
    title: "Norda",
    blocks: [
      "In Lund, where it still has its seat, the engineer Eva Lindqvist founded the pump maker Norda in 1921 with 40 workers.",
      "It now makes 900 pumps a year.",
    ],
  };

  test.for([
    ["a name", "The pump maker Norda was founded in Lund by the engineer Eva Svensson.", "Lindqvist"],
    ["a date", "Norda, the pump maker from Lund, was founded in 1931 by Eva Lindqvist.", "1921"],
    ["a figure", "With 70 workers, Eva Lindqvist founded the pump maker Norda in Lund.", "40"],
    ["part of a name", "The engineer Eva Svensson gave Norda its name.", "Lindqvist"],
  ])("%s that the page has nowhere is in conflict with what stands in its place", ([, text = "", says]) => {
    expect(comparePage(claim(text), page)).toMatchObject({
      verdict: "conflict",
      pageSays: says,
      passage: page.blocks[0],
    });
  });

  test.for([
    ["is a limit", "With more than 20 workers, Eva Lindqvist founded the pump maker Norda in Lund."],
    ["counts something else", "Norda was founded in Lund with 70 machines by the engineer Eva Lindqvist."],
    ["is not the only one", "With 70 workers, Norda, the pump maker from Lund, was founded in 1931 by Eva Lindqvist."],
    ["is in another place", "The pump maker Norda was founded in Lund in 1921 with the money of Karlsson."],
    ["is about another subject", "The engineer Eva Svensson has a degree in chemistry."],
  ])("what %s is not", ([, text = ""]) => {
    expect(comparePage(claim(text), page).verdict).not.toBe("conflict");
  });

  test.for([
    "Die Firma Norda aus Lund beschäftigt in ihrem Werk heute 40 Mitarbeiter.",
    "In ihrem Werk beschäftigt die Firma Norda aus Lund 40 Mitarbeiter.",
  ])("a German noun is no name: %s", (text) => {
    const blocks = ["Die Firma Norda aus Lund beschäftigt in ihrem Werk heute 40 Angestellte."];
    expect(comparePage(claim(text), { title: "", blocks }).verdict).not.toBe("conflict");
  });
});

test("the words of the page in another order are not likely (W2)", () => {
  const blocks = ["The town of Lund sued the builder Norda over unpaid bridge tolls."];
  const text = "The builder Norda sued the town of Lund over unpaid bridge tolls.";
  expect(comparePage(claim(text), { title: "", blocks }).verdict).toBe("not_found");
});

describe("a name at the start of a sentence is compared like others (W2)", () => {
  const page = (...blocks: string[]) => ({ title: "", blocks });
  const text = "Norda reported record revenue for the fourth quarter of the year.";
  const stated = "Orbis reported a record revenue for the fourth quarter of the year.";

  test("another name that is known from other sentences is a conflict", () => {
    const known = page(stated, "Its rival Norda was silent, and so was the owner of Orbis.");
    expect(comparePage(claim(text), known)).toMatchObject({ verdict: "conflict", pageSays: "Orbis" });
  });

  test("other claims about the page tell names, too", async () => {
    const claims = [claim(text), claim("The pump maker Norda and its rival Orbis are in Lund.")];
    const [compared] = await compareClaims({ page: page(stated), claims }, new AbortController().signal);
    expect(compared).toMatchObject({ verdict: "conflict", pageSays: "Orbis" });
  });

  test("a word that may be a name keeps a claim from being likely, one in small letters does not", () => {
    expect(comparePage(claim(text), page(stated)).verdict).toBe("not_found");
    const plain = text.replace("Norda", "Yesterday Orbis").replace("quarter of the year", "quarter");
    expect(comparePage(claim(plain), page(stated, "It was silent until yesterday.")).verdict).toBe("likely");
  });
});

test("the words of the page with a negation are not likely (W2)", () => {
  const blocks = ["Walking the dog every morning does not help keep the joints of older people flexible."];
  const text = "Walking the dog every morning keeps the joints of older people flexible.";
  expect(comparePage(claim(text), { title: "", blocks }).verdict).toBe("not_found");
});

test("what the page says in nearly the same words is likely, with a probability (W2)", () => {
  const page = {
    title: "Digestion",
    blocks: ["Often, relatively simple changes in eating habits can lessen bothersome gas. See a doctor if not."],
  };
  const near = "Simple changes in eating habits can help lessen bothersome gas.";
  expect(comparePage(claim(near), page)).toEqual({
    verdict: "likely",
    passage: expect.stringMatching(/^Often, relatively/),
    probability: expect.toSatisfy((value: number) => value > 0.8 && value <= 1),
  });
});

test("the passage of what is likely is quoted from one paragraph of the page (W2)", () => {
  const blocks = [
    "The bridge in Lund was painted in spring.",
    "Often, relatively simple changes in eating habits can lessen bothersome gas.",
    "All rights reserved by the publisher.",
  ];
  const text = "Simple changes in eating habits can help lessen bothersome gas.";
  expect(comparePage(claim(text), { title: "", blocks })).toMatchObject({ verdict: "likely", passage: blocks[1] });
});

test.for([
  ["The dam holds 40 million litres of water.", "This is not so."],
  ["The dam holds 40 million litres of water.", "However, that figure was never correct."],
  ["The dam holds 40 million litres of water.", "Wrong!"],
  ["The dam holds about 40 million litres of water in spring.", "None of this is true."],
  ["The dam holds 40 million litres of water.", "The claim was later retracted."],
  ["Der Damm hat zwölf Tore aus Stahl.", "Das stimmt nicht."],
  ["Der Damm hat zwölf Tore aus Stahl.", "Dies ist falsch."],
  ["Le barrage compte douze portes en acier.", "Mais c’est faux."],
  ["会社は8450人を雇用している。", "しかし、これは事実ではない。"],
])("%s is not confirmed by a page that goes on: %s (W2)", ([text = "", next = ""]) => {
  const stated = text.replace("about 40", "40").replace(" in spring", "");
  const compared = comparePage(claim(text), { title: "", blocks: [`${stated} ${next}`] });
  expect(compared).toMatchObject({ verdict: "not_found", passage: expect.stringContaining(next) });
  for (const harmless of ["This is not only true of dams.", "It is a myth that it leaks.", "That is enough."]) {
    expect(comparePage(claim(text), { title: "", blocks: [`${text} ${harmless}`] }).verdict).toBe("confirmed");
  }
});

test("words that join a sentence to the one before it are no part of what is compared (W2)", () => {
  expect(verdictOf("However, net profit fell to 112 million francs.")).toBe("confirmed");
  expect(verdictOf("Net profit, however, fell to 112 million francs.")).not.toBe("confirmed");
});

test.for([
  [
    "C# is a programming language with classes and generic types.",
    "C is a programming language with classes and generic types.",
  ],
  [
    "C++ is a programming language with classes and templates.",
    "C is a programming language with classes and templates.",
  ],
  ["ひとがすわっています。", "犬がすわっています。"],
  ["車が止まっています。", "車が止まろうとしています。"],
])("%s is not confirmed by %s (W2)", ([text, stated]) => {
  const { verdict } = comparePage(claim(text ?? ""), { title: "", blocks: [stated ?? ""] });
  expect(["not_found", "conflict"]).toContain(verdict);
});

describe("a claim that the page does not state is not found (W2)", () => {
  test.for([
    "The unemployment rate in Corvel was 8.4 points in 2025.",
    "The dividend rises to 3.20 francs.",
    "The company sold 40 mills.",
    "La société emploie 8450 personnes.",
  ])("%s", (text) => {
    const { verdict, reason } = comparePage(claim(text), PAGE);
    expect(verdict).toBe("not_found");
    expect(reason).toMatch(/\.$/);
  });

  test("a label that the sentence depends on must be on the page, too", () => {
    expect(verdictOf("8,450 people", ["Orbis", "Employees"])).toBe("not_found");
    const labelled = { title: "Pumps", blocks: ["The pump maker has 8,450 employees. Norda sold it."] };
    const verdictUnder = (label: string): string =>
      comparePage(claim("The pump maker has 8,450 employees.", [label]), labelled).verdict;
    expect([verdictUnder("Norda"), verdictUnder("Orbis")]).toEqual(["confirmed", "not_found"]);
  });
});

test("claims are compared in their order (W2, W3)", async () => {
  const page = { title: "Onda", blocks: ["Lake Onda is 42 metres deep.", "The village has 310 inhabitants."] };
  const claims = [claim("Lake Onda is 42 metres deep."), claim("The village has 900 inhabitants.")];
  expect(await compareClaims({ page, claims }, new AbortController().signal)).toEqual([
    { verdict: "confirmed", passage: page.blocks[0] },
    { verdict: "conflict", reason: "The page has another figure.", passage: page.blocks[1], pageSays: "310" },
  ]);
});

describe("a quotation cannot support a claim (W2)", () => {
  test.for([
    ["Profit was 5 million euros.", "Profit was 6 million euros.", "figure"],
    ["Profit was 5 million euros.", "Profit was 5 million dollars.", "figure"],
    ["It opened in May 2024.", "It opened in May 2023.", "date"],
    ["The drug is effective in children.", "The drug is not effective in children.", "negation"],
    ["Sales rose by 5 percent.", "Sales fell by 5 percent.", "direction"],
    ["it is safe for children", "It was not shown that it is safe for children", "negation"],
    ["Die Kosten betragen 1.500 Euro.", "The costs are 1,600 euros.", "figure"],
    ["Profit was 4 million euros.", "Profit was 4.2 million euros.", "figure"],
    ["Profit was 4.2 million euros.", "Profit was 4 million euros.", "figure"],
    ["It has about 400 rooms.", "It has 412 rooms.", "figure"],
    ["It has 1,400 rooms.", "It has about 1,000 rooms.", "figure"],
    ["It has more than 400 rooms.", "It has 412 rooms.", "figure"],
    ["It has more than 400 rooms.", "It has less than 400 rooms.", "figure"],
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

test("only a code in capitals is a currency (W2)", () => {
  expect(quantitiesIn("They rub 5 spices into meat for RUB 90.")).toMatchObject([
    { value: 5, unit: "" },
    { value: 90, unit: "RUB" },
  ]);
});
