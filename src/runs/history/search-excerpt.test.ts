import { describe, expect, test } from "vitest";
import { excerptOf, searchWords, soughtIn } from "./search-store.ts";

const ALL = 10_000_000;

function excerpt(typed: string, report: string, question = "What?"): string {
  return excerptOf({ question, report }, soughtIn(searchWords(typed)), { characters: ALL })
    .map(({ text, marked }) => (marked === true ? `<${text}>` : text))
    .join("");
}

const filler = (count: number): string => "filler ".repeat(count);

describe("the excerpt of a found run", () => {
  test.for([
    ["heat", "The heat pump.", "The <heat> pump."],
    ["pump", "Heat\n\n pumps, wheat, pump-house.", "Heat <pumps>, wheat, <pump>-house."],
    ["eat", "Heat and wheat eat.", "Heat and wheat <eat>."],
    [
      '"heat pump" cost',
      "A pump of heat. Heat pump costs: Heat\npump!",
      "A pump of heat. <Heat pump> <costs>: <Heat pump>!",
    ],
    ["cafe", "Où? Le Café\u0301.", "Où? Le <Café\u0301>."],
    ["日本", "今日は 日本語 です", "今日は <日本語> です"],
    ["NEAR(a b)", "Near a b.", "<Near a> <b>."],
    ["nowhere", "A report.", "A report."],
    ["nowhere", "", ""],
  ])("shows %s in %j (Q2)", ([typed = "", report = "", expected]) => {
    expect(excerpt(typed, report)).toBe(expected);
  });

  test("is taken from the question before the report (Q2)", () => {
    expect(excerpt("heat", "All about heat.", "Is heat dear?")).toBe("Is <heat> dear?");
    expect(excerpt("heat nowhere", "All about heat.", "Is heat dear?")).toBe("Is <heat> dear?");
  });

  test("is taken from the report for words that are not in the question (Q2)", () => {
    expect(excerpt("heat zebra", "A zebra in the heat.", "Is heat dear?")).toBe("A <zebra> in the <heat>.");
  });

  test("has some words before the match, and two dozen in all (Q2)", () => {
    expect(excerpt("heat", `${filler(5_000)}heat ${filler(5_000)}`)).toBe(`…${filler(6)}<heat> ${filler(17).trim()}…`);
  });

  test("shows the right word wherever a slice of a long report ends (Q2)", () => {
    for (let before = 3_780; before <= 4_020; before += 1) {
      const report = `wheat heater ${"x ".repeat(before / 2)}${before % 2 === 0 ? "" : "y"} wheat heater, heat pump ${filler(900)}`;
      expect(excerpt('"heat pump"', report)).toContain("heater, <heat pump> filler");
    }
  });

  test("ignores matches beyond the searched part of a report (Q2)", () => {
    const pieces = excerptOf({ question: "", report: `${filler(2_000)}heat` }, soughtIn(searchWords("heat")), {
      characters: 8_000,
    });
    expect(pieces).toEqual([{ text: `${filler(24).trim()}…` }]);
  });

  test.for([
    ["one word", "energy "],
    ["letters without an end", "energy"],
    ["parts of the word", "energ energies "],
    ["characters of two halves", "😀"],
    ["accents", "e\u0301"],
  ])("stays short when megabytes of %s are read to the end (Q2)", ([, unit = ""]) => {
    expect(excerpt("energy zero", unit.repeat(1_000_000)).length).toBeLessThan(1_000);
  });
});
