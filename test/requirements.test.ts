/** Checks that requirements and tests agree: each id is cited by a test, each cited id is defined, ids end a title. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CITATION, citedLines, ID, listedTitles, readTitles } from "../scripts/test-titles.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

const LEADING = new RegExp(String.raw`^${ID}\b`);

const TITLES = readTitles();
const CITED = TITLES.flatMap(({ file, text }) =>
  (CITATION.exec(text)?.[1]?.split(", ") ?? []).map((id) => ({ id, file, text })),
);

const [REQUIREMENTS = "", UNCOVERED = ""] = read("docs/engineering/requirements.md").split(
  "\n## Not covered by an automated test\n",
);
const idsIn = (text: string, line: RegExp): string[] =>
  [...text.matchAll(line)].flatMap(([, ids]) => ids?.split(", ") ?? []);
const required = idsIn(REQUIREMENTS, new RegExp(String.raw`^- \*\*(${ID})\*\* `, "gm"));
const uncovered = idsIn(UNCOVERED, new RegExp(String.raw`^- (${ID}(?:, ${ID})*): `, "gm"));
const threats = idsIn(read("SECURITY.md"), new RegExp(String.raw`^- \*\*(${ID})\*\* `, "gm"));

test("each id is defined once, and what is not covered is defined", () => {
  expect(required.length).toBeGreaterThan(100);
  expect(threats.length).toBeGreaterThan(20);
  const defined = [...required, ...threats];
  expect(defined.filter((id, at) => defined.indexOf(id) !== at)).toEqual([]);
  expect(uncovered.filter((id) => !required.includes(id))).toEqual([]);
});

test("each requirement is cited by a test title, or listed as not covered in docs/engineering/requirements.md", () => {
  const cited = new Set(CITED.map(({ id }) => id));
  expect(required.filter((id) => !cited.has(id) && !uncovered.includes(id))).toEqual([]);
  expect(uncovered.filter((id) => cited.has(id))).toEqual([]);
});

test("each id that an experiment of the lab covers is defined in docs/engineering/requirements.md or SECURITY.md", () => {
  const defined = new Set([...required, ...threats]);
  const experiments = readdirSync(join(ROOT, "lab/experiments")).filter((file) => file.endsWith(".ts"));
  const covered = experiments.flatMap((file) =>
    idsIn(read(join("lab/experiments", file)), /^ {2}covers: "(.*)",$/gm).map((id) => ({ id, file })),
  );
  expect(covered.length).toBeGreaterThan(experiments.length);
  expect(covered.filter(({ id }) => !defined.has(id)).map(({ id, file }) => `${id} in ${file}`)).toEqual([]);
});

test("each id in a test title is defined in docs/engineering/requirements.md or SECURITY.md", () => {
  const defined = new Set([...required, ...threats]);
  expect(CITED.filter(({ id }) => !defined.has(id)).map(({ id, file, text }) => `${id} in ${file}: ${text}`)).toEqual(
    [],
  );
});

test("a test title names its ids at its end, in parentheses", () => {
  expect(TITLES.length).toBeGreaterThan(1500);
  const known = new RegExp(String.raw`(?<![\w-])(?:${[...required, ...threats].join("|")})(?![\w-])`);
  const misplaced = TITLES.filter(({ text }) => LEADING.test(text) || known.test(text.replace(CITATION, "")));
  expect(misplaced.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
});

test("no title that cites a requirement is removed without a reason in test/requirement-titles.txt", () => {
  const cited = citedLines(TITLES);
  const { present, removed } = listedTitles();
  const gone = "no test has this title: end its line with [removed: and the reason]";
  const fresh = "this title is not listed: run npm run titles";
  const back = "this title is listed as removed, and a test has it: delete its line, then run npm run titles";
  const listed = new Set([...present, ...removed]);
  expect([
    ...present.filter((line) => !cited.has(line)).map((line) => `${gone}: ${line}`),
    ...[...cited].filter((line) => !listed.has(line)).map((line) => `${fresh}: ${line}`),
    ...removed.filter((line) => cited.has(line)).map((line) => `${back}: ${line}`),
  ]).toEqual([]);
});
