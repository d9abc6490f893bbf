import markdownIt, { type Token } from "markdown-it";
import { describe, expect, test } from "vitest";
import { assignToBlocks, type InlineCitationMap } from "./blocks.ts";

const md = markdownIt();

/** The inline tokens that have citations, each with its citation positions. */
function assigned(tokens: readonly Token[], text: string, at: readonly number[]): [string, number[]][] {
  const inlines: InlineCitationMap = new Map();
  assignToBlocks(tokens, { text, positions: at.map((position) => ({ at: position, n: 1 })), inlines });
  return tokens.flatMap(({ content, children }): [string, number[]][] => {
    const inline = children === null ? undefined : inlines.get(children);
    return inline === undefined ? [] : [[content, inline.positions.map((position) => position.at)]];
  });
}

const parsed = (text: string): Token[] => {
  const tokens = md.parse(text, {});
  for (const token of tokens) if (token.children !== null) token.children = [];
  return tokens;
};

describe("the block that a citation is in", () => {
  test("is the right cell after cells with escaped bars", () => {
    const text = `|a|b|c|\n|-|-|-|\n|${String.raw`x\|y`.repeat(500)}|  ${String.raw`z\|`}|end|\n`;
    const at = text.indexOf("end") + 3;
    expect(assigned(parsed(text), text, [at])).toEqual([["end", [3]]]);
  });

  test.for([
    ["the middle of a word", "A heat pump.", 4, 6],
    ["the blanks after one", "A heat   pump.", 8, 6],
    ["a word without an end", "a".repeat(500), 100, 150],
    ["blanks without an end", `a${" ".repeat(500)}b`, 400, 350],
  ] as const)("%s", ([, text, at, expected]) => {
    expect(assigned(parsed(text), text, [at])).toEqual([[text, [expected]]]);
  });
});

/** Scanning the whole line for each of them would take an hour. */
describe("a line of a megabyte is scanned once (T15)", () => {
  test("with cells that are not found", { timeout: 120_000 }, () => {
    const [, row, , cell] = parsed("|a|\n|-|\n").slice(1);
    if (row?.type !== "tr_open" || cell?.type !== "inline") throw new Error("This is no row.");
    const count = 300_000;
    const cells = Array.from({ length: count }, () =>
      Object.assign(Object.create(cell), { content: "a|b", children: [] }),
    );
    const text = `|${String.raw`a\|b|`.repeat(count)}`;
    expect(assigned([row, ...cells], text, [text.length])).toEqual([["a|b", [Infinity]]]);
  });

  test.for([
    ["word", "a"],
    ["gap", " "],
  ])("with many citations: a %s", { timeout: 120_000 }, ([, unit = ""]) => {
    const text = `x${unit.repeat(1_000_000)}y`;
    const at = Array.from({ length: 20_000 }, (_unused, index) => 1 + index * 50);
    expect(assigned(parsed(text), text, at)).toMatchObject([[text, { length: at.length }]]);
  });
});
