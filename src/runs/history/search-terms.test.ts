import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchOf } from "../../store/full-text.ts";
import { filterByWords, searchWords } from "./search-store.ts";

const matched = (text: string): string => matchOf(searchWords(text));

describe("the words that a user types to find a run", () => {
  test.for([
    ["heat pumps", '"heat" AND "pumps"*'],
    ['"heat pump" cost', '"heat pump" AND "cost"*'],
    ['cost "heat pump"', '"cost" AND "heat pump"'],
    ["the", '"the"'],
    ["日本", '"日本"*'],
    ["NEAR(a b) OR -c", '"NEAR(a" AND "b)" AND "OR" AND "-c"'],
    ["query:secret* ^x", '"query:secret*" AND "^x"'],
    ['un"closed', '"un" AND "closed"*'],
    ["🙂 -- *", ""],
  ])("%s are words and no query syntax (Q2)", ([typed = "", expected]) => {
    expect(matched(typed)).toBe(expected);
  });

  test("never appear outside quotation marks in the query (Q2)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (typed) => {
        expect(matched(typed).replaceAll(/"[^"]*"\*?/g, "w")).toMatch(/^(?:w(?: AND w)*)?$/);
      }),
    );
  });

  test("are limited in number when ten thousand are typed (Q2)", () => {
    expect(searchWords("word ".repeat(10_000))).toHaveLength(32);
  });

  test("match questions outside the index in the same way, whatever their accents (Q2)", () => {
    const items = [{ query: "Où est le Café?" }];
    expect(filterByWords(items, searchWords("cafe ou"))).toEqual(items);
    expect(filterByWords(items, searchWords("cafe the"))).toEqual([]);
  });
});
