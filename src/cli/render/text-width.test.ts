import { describe, expect, test } from "vitest";
import { cutToWidth, widthOf } from "./text-width.ts";
import { wrapToLines, wrapToWidth } from "./words.ts";

describe("the width of a text", () => {
  test.each([
    ["", 0],
    ["plain", 5],
    ["naïve", 5],
    ["nai\u0308ve", 5],
    ["日本", 4],
    ["한국어", 6],
    ["ｆｕｌｌ", 8],
    ["🎉", 2],
    ["👨‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["❤", 1],
    ["1️⃣", 2],
    ["①", 1],
    ["a\u200Db", 2],
  ])("%j is %i columns", (text, width) => {
    expect(widthOf(text)).toBe(width);
  });
});

describe("cutting a text", () => {
  test.each([
    ["short", 10, "short"],
    ["exactly", 7, "exactly"],
    ["too long", 5, "too…"],
    ["日本の状況", 6, "日本…"],
    ["日本の状況", 5, "日本…"],
    ["👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 4, "👨‍👩‍👧…"],
    ["anything", 1, "…"],
    ["anything", 0, ""],
  ])("%j to %i columns yields %j", (text, width, cut) => {
    expect(cutToWidth(text, width)).toBe(cut);
    expect(widthOf(cut)).toBeLessThanOrEqual(width);
  });
});

describe("wrapping a text", () => {
  test("breaks between words, and inside words only if they are wider than a line", () => {
    expect(wrapToWidth("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapToWidth("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
    expect(wrapToWidth("日本の状況は", 5)).toEqual(["日本", "の状", "況は"]);
    expect(wrapToWidth("  ", 5)).toEqual([]);
  });

  test("marks text that does not fit into the remaining lines", () => {
    expect(wrapToLines("one two three four", 7, 2)).toEqual(["one two", "three…"]);
    expect(wrapToLines("one two", 7, 2)).toEqual(["one two"]);
    expect(wrapToLines("one two three", 5, 0)).toEqual([]);
  });

  test("yields no line wider than requested, whatever the text", () => {
    for (const width of [2, 3, 8, 21]) {
      for (const line of wrapToWidth("mixed 日本 👨‍👩‍👧 text e\u0301 with averyveryverylongword inside", width)) {
        expect(widthOf(line)).toBeLessThanOrEqual(width);
      }
    }
  });
});
