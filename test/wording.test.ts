/**
 * The wording of everything that people read: the messages, help and page strings in the sources, and the documents.
 * What the built commands print is checked by test/e2e/human-texts.long.test.ts.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { ERROR_CODES } from "../src/errors.ts";
import { CATALOG } from "../src/operations/catalog.ts";
import { wordingProblems } from "./kit/judge/wording.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((file) => ending.test(file));

interface Text {
  file: string;
  text: string;
  /** Of a tool, a parameter or a setting. */
  isDescription?: boolean;
}

/** Three words or more, which are not SQL, CSS, HTML, a script or a regular expression. */
const isSentence = (text: string): boolean =>
  text.trim().split(/\s+/).length > 2 &&
  /[a-z]{2} [a-z(“"]/i.test(text) &&
  !/^\s*(?:select|insert|update|delete from|create|alter|drop|with|set|pragma|vacuum|and|where|primary key|unique|(?:not null )?references|#|<|:root|data:)\s?/.test(
    text,
  ) &&
  !/\||\{ *[a-z-]+:|\bas [a-z]+[A-Z]|\bfrom research_/.test(text);

function sentencesOf(file: string): Text[] {
  const texts: { text: string; at: number }[] = [];
  const descriptions: { start: number; end: number }[] = [];
  const visitor = new Visitor({
    Literal: ({ value, start }) => typeof value === "string" && texts.push({ text: value, at: start }),
    TemplateLiteral: ({ quasis, start }) =>
      texts.push({ text: quasis.map(({ value }) => value.cooked ?? "").join("…"), at: start }),
    JSXText: ({ value, start }) => texts.push({ text: value.replaceAll(/\s+/g, " "), at: start }),
    Property: ({ key, value }) => key.type === "Identifier" && DESCRIBING.has(key.name) && descriptions.push(value),
    CallExpression: ({ callee, arguments: [described] }) =>
      callee.type === "MemberExpression" &&
      callee.property.type === "Identifier" &&
      callee.property.name === "describe" &&
      described !== undefined &&
      descriptions.push(described),
  });
  visitor.visit(parseSync(file, read(file)).program);
  const isDescription = (at: number): boolean => descriptions.some(({ start, end }) => start <= at && at < end);
  return texts
    .filter(({ text }) => isSentence(text))
    .map(({ text, at }) => ({ file, text, isDescription: isDescription(at) }));
}

/** Fields whose texts describe a tool, a parameter or a setting. */
const DESCRIBING: ReadonlySet<string> = new Set(["description", "about"]);

const SENTENCES = filesIn("src", /\.tsx?$/)
  .filter((file) => !file.endsWith(".test.ts"))
  .flatMap(sentencesOf);

/** Generated ones, too: their sentences come from scripts of this repository and from kept results. */
const DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].concat(
  filesIn("docs", /\.md$/),
);

/** The prose of a document, clause by clause: no code blocks, code, or addresses. */
const clausesOf = (file: string): Text[] =>
  read(file)
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "…")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .split(/\n|(?<=[.;:|]) /)
    .map((text) => ({ file, text }));

const problemsOf = (texts: readonly Text[]): string[] =>
  texts.flatMap(({ file, text }) => wordingProblems(text).map((problem) => `${file}: ${problem} in: ${text.trim()}`));

test("the constructions would be found, and idiomatic sentences are not reported", () => {
  for (const text of [
    "If nobody can know whether Google accepted it",
    "Who agrees can raise the limit.",
    "The research goes on.",
    "It is taken up by another worker.",
    "cursor of the answer before.",
    "Every start is to be confirmed.",
    "2 researches are under way.",
    "The run was canceled.",
    "<<<<<<< HEAD",
    "> > > > > > > main",
  ]) {
    expect(wordingProblems(text), text).not.toEqual([]);
  }
  for (const text of [
    "Takes up to 5 s, free.",
    "The user who runs the server can read it.",
    "No one else can read it; the run continues automatically.",
    "The run was cancelled.",
  ]) {
    expect(wordingProblems(text), text).toEqual([]);
  }
});

test("messages, help and page strings have no such constructions", () => {
  expect(SENTENCES.length).toBeGreaterThan(1_000);
  expect(problemsOf(SENTENCES)).toEqual([]);
  expect(problemsOf(Object.entries(ERROR_CODES).map(([file, text]) => ({ file, text })))).toEqual([]);
});

test("documents have no such constructions", () => {
  expect(DOCUMENTS.length).toBeGreaterThan(25);
  expect(problemsOf(DOCUMENTS.flatMap(clausesOf))).toEqual([]);
});

describe("tools and parameters", () => {
  const names = Object.entries(CATALOG)
    .flatMap(([name, { input }]) => [name, ...Object.keys(input.shape)])
    .filter((name) => name.includes("_"));
  const NAMES = new RegExp(String.raw`(?<![\w{-])(?:${names.join("|")})(?![\w-]|\.\w)`);

  test("are recognised by their names", () => {
    expect(names.filter((name) => !NAMES.test(`Use ${name}.`))).toEqual([]);
    expect(["research_reports", "deep_research.db", "a deep search"].filter((text) => NAMES.test(text))).toEqual([]);
  });

  test("are named only where a model reads it: in descriptions, in the server for MCP, and in printed calls", () => {
    const forModels = /^src\/(?:mcp\/|web\/chat\/|errors\.ts$|operations\/parts\/advice\.ts$)/;
    const shown = SENTENCES.filter(({ file, isDescription = false }) => !isDescription && !forModels.test(file));
    expect(shown.length).toBeGreaterThan(900);
    expect(shown.filter(({ text }) => NAMES.test(text))).toEqual([]);
  });
});
