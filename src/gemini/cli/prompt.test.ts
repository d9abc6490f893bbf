import fc from "fast-check";
import { expect, test } from "vitest";
import { escapePrompt, assertUsable } from "./prompt.ts";

/** How version 0.61 finds files to insert into a prompt. */
const AT_COMMAND = /(?<!\\)@(?:(?:"(?:[^"]*)")|(?:\\.|[^ \t\n\r,;!?()[\]{}.]|\.(?!$|[ \t\n\r])))+/;

const request = (prompt: string, model?: string) => ({
  prompt,
  model,
  purpose: "research" as const,
  signal: new AbortController().signal,
  onActivity: () => {},
});

test.each([
  ["bob@secret.txt", "bob\\@secret.txt"],
  ["already \\@ escaped", "already \\@ escaped"],
  ["\\\\@x", "\\\\@x"],
  ['@"a b" @@', '\\@"a b" \\@\\@'],
  ["no sign", "no sign"],
])("%s becomes %s (G9)", (prompt, escaped) => {
  expect(escapePrompt(prompt)).toBe(escaped);
});

test("the CLI finds no file to read and no command to run in any escaped text (T3)", () => {
  const piece = fc.oneof(
    fc.constantFrom("@", "\\", "/", '"', " ", "\n", "a.txt", ".", "\u2028"),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const escaped = escapePrompt(pieces.join(""));
      expect(AT_COMMAND.test(escaped)).toBe(false);
      expect(escaped.trim().startsWith("/")).toBe(false);
    }),
    { numRuns: 10_000 },
  );
});

test("only the @ sign is changed (G9)", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      fc.pre(!text.includes("@") && !text.trimStart().startsWith("/"));
      expect(escapePrompt(text)).toBe(text);
    }),
  );
});

test.each(["gemini-3.8-flash", "flash", "models/gemini-3.8-flash", "publishers/google/models/x:1"])(
  "%s is a valid model name (T2)",
  (model) => {
    expect(() => assertUsable(request("question", model), 0)).not.toThrow();
  },
);

test.each(["--yolo", "-m", "", "a b", "../x", "a//b", "a\nb", "a;b", "x".repeat(200), "gemini\0"])(
  "%j is no valid model name (T2)",
  (model) => {
    expect(() => assertUsable(request("question", model), 0)).toThrow(
      expect.objectContaining({ code: "EXECUTION_ERROR", reason: "config", retryable: false }),
    );
  },
);

test("a prompt that the CLI would cut is refused, and one that just fits is not (T8)", () => {
  const limit = 8 * 1024 * 1024;
  expect(() => assertUsable(request("x".repeat(limit)), 0)).not.toThrow();
  expect(() => assertUsable(request("x".repeat(limit + 1)), 0)).toThrow(expect.objectContaining({ reason: "input" }));
  // Escaping makes it longer.
  expect(() => assertUsable(request("@".repeat(limit / 2 + 1)), 0)).toThrow(
    expect.objectContaining({ reason: "input" }),
  );
});

test("a server that runs below another one starts no CLI (T5)", () => {
  expect(() => assertUsable(request("question"), 1)).toThrow(expect.objectContaining({ reason: "config" }));
});
