/** Prompts: values stay literal, each prompt asks for one JSON block, and the user's own versions take precedence. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPrompts, fillIn, fillInLegacyPrompt, PROMPT_NAMES } from "./prompts.ts";
import { createTestLog } from "../../test/kit/log.ts";

const PACKAGED = join(import.meta.dirname, "../../prompts");
const LITERAL = "$& $1 $$ $` {{model}} {{fence}} {topic} {{{query}}} }} {{ %s";

function promptsWith(own: string | undefined) {
  const lines: string[] = [];
  const log = createTestLog((line) => lines.push(line));
  return { lines, ...createPrompts({ packaged: PACKAGED, own, now: () => Date.UTC(2026, 10, 15), log }) };
}

function ownDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "prompts-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

describe("a value in a prompt (G9)", () => {
  test("is inserted unchanged, once, whatever it looks like", () => {
    expect(fillIn("<{{query}}|{{query}}|{{model}}>", { query: LITERAL, model: "m" })).toBe(`<${LITERAL}|${LITERAL}|m>`);
  });

  test("does not exist for names of an object's prototype", () => {
    expect(fillIn("{{constructor}} {{toString}} {{unknown}}", {})).toBe("{{constructor}} {{toString}} {{unknown}}");
  });

  test("is inserted into the legacy prompt in the same way", () => {
    const filled = fillInLegacyPrompt(
      "{topic}|{depth}|{model}|{other}|$&",
      { topic: LITERAL, depth: "d", model: "m" },
      "{}",
    );
    expect(filled).toBe(
      `${LITERAL}|d|m|{other}|$&\n\nAnswer with exactly one fenced json block and nothing else, in this form:\n\n\`\`\`json\n{}\n\`\`\`\n`,
    );
  });
});

const VALUES = {
  query: LITERAL,
  result: "the result",
  claims: "1. a claim",
  output: "the output",
  file: "/tmp/file",
  depth: "concise",
  claim: "The lake is deep.",
  passages: "It is 12 m deep.",
  round: "2",
  max_rounds: "5",
  example: '{ "success": true }',
};

describe.each(PROMPT_NAMES)("prompt %s", (name) => {
  test("asks for one fenced json block and has no placeholder left (D6, G9)", () => {
    const prompt = promptsWith(undefined).render(name, { ...VALUES, query: "a question" });
    expect(prompt).not.toMatch(/\{\{\w+\}\}/);
    expect(prompt).toContain("exactly one fenced json block");
    expect(prompt).toContain('```json\n{ "success": true }\n```');
  });

  test("fences its values with unpredictable marks (G9, T17)", () => {
    const { render } = promptsWith(undefined);
    const marks = (prompt: string) =>
      [...prompt.matchAll(/^-----(?:BEGIN|END) [A-Z ]+ (\w+)-----$/gm)].map((m) => m[1]);
    const first = marks(render(name, VALUES));
    expect(first.length).toBeGreaterThanOrEqual(2);
    expect(new Set(first).size).toBe(1);
    expect(first[0]).toMatch(/^[0-9a-f]{12}$/);
    expect(marks(render(name, VALUES))[0]).not.toBe(first[0]);
  });
});

describe("the user's prompt directory (B9)", () => {
  test("overrides our prompts; those it does not hold are ours, without a log line", () => {
    const own = ownDirectory();
    writeFileSync(join(own, "search-prompt.md"), "Mine on {{date}}: {{query}}");
    const { render, lines } = promptsWith(own);
    expect(render("search-prompt", VALUES)).toBe(`Mine on 2026-11-15: ${LITERAL}`);
    expect(render("verify-prompt", VALUES)).toContain("# Task: verify");
    // Wishes reach the model even without a place for them.
    expect(render("search-prompt", VALUES, { length: "short" })).toMatch(
      /^Mine on [\s\S]*\n\nThe user's wishes .*\n\n-----BEGIN WISHES (\w{12})-----\nLength of the answer: short, .*\n-----END WISHES \1-----\n$/,
    );
    expect(lines).toEqual([]);
  });

  test("that cannot be read is named once, and ours are used", () => {
    const own = ownDirectory();
    mkdirSync(join(own, "search-prompt.md"));
    const { render, lines } = promptsWith(own);
    for (const _ of [1, 2]) expect(render("search-prompt", VALUES)).toContain("# Task: search");
    expect(lines).toEqual([
      "[WARN] search-prompt.md in GEMINI_SEARCH_TEMPLATES_DIR cannot be read; the built-in one is used.\n",
    ]);
  });
});
