/** Cleaning removes from untrusted text what acts on terminals and models, and nothing else. */

import { describe, expect, test } from "vitest";
import { cleanText, cleanValue, oneLine } from "./clean-text.ts";

describe("cleaning a text removes", () => {
  test.each([
    ["colours", "\u001B[1;31mred\u001B[0m", "red"],
    ["cursor moves with private parameters", "a\u001B[?25l\u001B[2Jb", "ab"],
    ["a clipboard write that ends with a bell", "a\u001B]52;c;cm0gLXJm\u0007b", "ab"],
    ["a window title that ends with ST", "a\u001B]0;title\u001B\\b", "ab"],
    ["a link target, but not its text", "\u001B]8;;https://evil.test\u001B\\text\u001B]8;;\u001B\\", "text"],
    ["single-character sequences", "a\u001BMb\u001BEc", "abc"],
    ["a lone escape", "a\u001B", "a"],
    ["C1 controls", "a\u009B2Jb\u0086c", "a2Jbc"],
    ["NUL, bell, backspace, delete", "a\u0000\u0007\b\u007Fb", "ab"],
    ["direction overrides and isolates", "a\u202Eb\u2066c\u2069", "abc"],
    ["zero-width spaces and byte order marks", "\uFEFFa\u200Bb\u2060", "ab"],
    ["a hidden character in two halves, which would join", "a\uDB40\u200B\uDC41b", "a\uFFFD\uFFFDb"],
    ["the Arabic direction mark", "a\u061Cb", "ab"],
    ["variation selectors that spell hidden bytes", "a\u{E0158}\u{E0159}b", "ab"],
    ["the Arabic letter mark, soft hyphens and fillers", "a\u061Cb\u00ADc\u3164d\u180Ee", "abcde"],
    ["variation selectors, of which each spells a byte", "a\uFE00\uFE0D\u{E0100}\u{E01EF}b", "ab"],
    ["three joiners in a row, which spell bits", "a\u200C\u200D\u200C\u200Cb", "ab"],
    ["line ends of other systems, which become ours", "a\u0085b\u000Bc\u000Cd", "a\nb\nc\nd"],
    ["tag characters, which spell hidden words", "a\u{E0068}\u{E0069}b", "ab"],
    ["Mongolian variation selectors, which spell bits too", "a\u180B\u180C\u180Db\u180Fc ᠠ\u180Bᠨ", "abc ᠠᠨ"],
    ["Egyptian format controls", "a\u{13430}\u{13437}\u{1343F}b", "ab"],
    ["the Braille blank, which is a space to a reader", "a\u2800b\u2800\u2800c", "a b  c"],
    ["notes and fillers without a glyph", "a\u{1D159}\u{16FE4}b", "ab"],
    ["a sequence with intermediate characters", "a\u001B[1 qb\u001B[!pc", "abc"],
    ["a Mongolian separator outside a word", "ᠠ\u180E ᠨ \u180Eᠠ", "ᠠ ᠨ ᠠ"],
  ])("%s", (_, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });
});

describe("cleaning a text keeps", () => {
  test.each([
    ["tabs and line breaks", "a\tb\nc"],
    ["accents, scripts and emoji with joiners", "Café – naïve, 漢字, हिन्दी, 👩‍👩‍👧, 🏳️‍🌈, ❤️, می‌خواهم"],
    ["brackets that only look like sequences", "[31m ]52;c; \\u001b[0m"],
    ["the Mongolian separator inside a word", "ᠠ\u180Eᠨ"],
  ])("%s", (_, text) => {
    expect(cleanText(text)).toBe(text);
  });

  test("line ends of every system become line breaks: a lone carriage return would overwrite the line", () => {
    expect(cleanText("a\r\nb\rc\u2028d\u2029e")).toBe("a\nb\nc\nd\ne");
  });
});

test("a shortened line keeps whole characters", () => {
  expect(oneLine(`${"x".repeat(299)}😀`)).toBe("x".repeat(299));
});

test("a value is cleaned in every string, and undefined members are dropped", () => {
  const value = { a: "x\u0007", list: ["\u001B[1mbold", 1, null, { deep: "\u202Ey" }], none: undefined, yes: true };
  const clean = cleanValue<unknown>(value);
  expect(clean).toStrictEqual({ a: "x", list: ["bold", 1, null, { deep: "y" }], yes: true });
});

test("a thought becomes one short line without emphasis", () => {
  expect(oneLine("  **Reading\u0007**\n\n # the\t\tlake ")).toBe("Reading: the lake");
  expect(oneLine("**Taking stock**\n\nI begin with what is undisputed.")).toBe(
    "Taking stock: I begin with what is undisputed.",
  );
  expect(oneLine("## Plan:\nFirst, the lakes.")).toBe("Plan: First, the lakes.");
  expect(oneLine("**Only a heading**")).toBe("Only a heading");
  expect(oneLine("a".repeat(301))).toBe("a".repeat(300));
  expect(oneLine(`${" ".repeat(400)}late`)).toBe("late");
});

test.each([
  ["a heading with marks", "## Plan\nFirst", "Plan: First"],
  ["a bold heading with its own colon", "**Plan:**\nFirst", "Plan: First"],
  ["spaces after a heading", "**Plan** \t\nFirst", "Plan: First"],
  ["spaces after a heading with marks", "### Plan: \t\n\n First", "Plan: First"],
  ["a heading without a text", "**Plan**\n", "Plan"],
  ["a heading in the middle", "I read.\n**Next**\nI write.", "I read. Next I write."],
  ["emphasis within a line", "**Plan** first\nthen", "Plan first then"],
  ["a mark without a space", "#Plan\nFirst", "Plan First"],
  ["emoji", "😀 and 😀", "😀 and 😀"],
])("%s in a thought: %j is shown as %j (J2)", (_, text, line) => {
  expect(oneLine(text)).toBe(line);
});

test("of all default-ignorable Unicode characters only those that scripts and emoji need are kept (T17)", () => {
  const passing = Array.from({ length: 0x11_00_00 }, (_, code) => code)
    .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
    .map((code) => String.fromCodePoint(code))
    .filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character))
    .filter((character) => cleanText(`a${character}b`) !== "ab");
  expect(passing).toEqual(["\u200C", "\u200D", "\uFE0E", "\uFE0F"]);
});
