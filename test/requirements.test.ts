/** Checks that requirements and tests agree: each id is cited by a test, each cited id is defined, ids end a title. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { expect, test } from "vitest";

type Node = Parameters<NonNullable<ConstructorParameters<typeof Visitor>[0]["CallExpression"]>>[0];
type Title = { file: string; text: string };

const ROOT = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

const ID = String.raw`(?:[A-Z]\d{1,2}|[A-Z]{1,2}-\d{1,3})`;
const LEADING = new RegExp(String.raw`^${ID}\b`);
const CITATION = new RegExp(String.raw` \((${ID}(?:, ${ID})*)\)$`);

/** `test` of `test("…")`, of `test.skipIf(…)("…")` and of `test.for(…)("…")`. */
function baseName(callee: Node["callee"]): string {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type === "CallExpression") return baseName(callee.callee);
  return callee.type === "MemberExpression" ? baseName(callee.object) : "";
}

/** The title that a call gives to a test or a group; interpolated values are left out. */
function titleOf({ callee, arguments: [first] }: Node): string | undefined {
  if (!["describe", "it", "test"].includes(baseName(callee))) return undefined;
  if (first?.type === "TemplateLiteral") return first.quasis.map(({ value }) => value.raw).join("…");
  return first?.type === "Literal" && typeof first.value === "string" ? first.value : undefined;
}

function titlesOf(file: string): Title[] {
  const titles: Title[] = [];
  const CallExpression = (call: Node): void => {
    const text = titleOf(call);
    if (text !== undefined) titles.push({ file, text });
  };
  new Visitor({ CallExpression }).visit(parseSync(file, read(file)).program);
  return titles;
}

const TITLES = ["src", "simulator", "test"]
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap(titlesOf);
const CITED = TITLES.flatMap(({ file, text }) =>
  (CITATION.exec(text)?.[1]?.split(", ") ?? []).map((id) => ({ id, file, text })),
);

const [REQUIREMENTS = "", UNCOVERED = ""] = read("docs/requirements.md").split(
  "\n## Not covered by an automated test\n",
);
const idsIn = (text: string, line: RegExp): string[] =>
  [...text.matchAll(line)].flatMap(([, ids]) => ids?.split(", ") ?? []);
const required = idsIn(REQUIREMENTS, new RegExp(String.raw`^- \*\*(${ID})\*\* `, "gm"));
const uncovered = idsIn(UNCOVERED, new RegExp(String.raw`^- (${ID}(?:, ${ID})*): `, "gm"));
const threats = idsIn(read("SECURITY.md"), new RegExp(String.raw`^\| (${ID}) +\|`, "gm"));

test("each id is defined once, and what is not covered is defined", () => {
  expect(required.length).toBeGreaterThan(100);
  expect(threats.length).toBeGreaterThan(20);
  const defined = [...required, ...threats];
  expect(defined.filter((id, at) => defined.indexOf(id) !== at)).toEqual([]);
  expect(uncovered.filter((id) => !required.includes(id))).toEqual([]);
});

test("each requirement is cited by a test title, or listed as not covered in docs/requirements.md", () => {
  const cited = new Set(CITED.map(({ id }) => id));
  expect(required.filter((id) => !cited.has(id) && !uncovered.includes(id))).toEqual([]);
  expect(uncovered.filter((id) => cited.has(id))).toEqual([]);
});

test("each id that an experiment of the lab covers is defined in docs/requirements.md or SECURITY.md", () => {
  const defined = new Set([...required, ...threats]);
  const experiments = readdirSync(join(ROOT, "lab/experiments")).filter((file) => file.endsWith(".ts"));
  const covered = experiments.flatMap((file) =>
    idsIn(read(join("lab/experiments", file)), /^ {2}covers: "(.*)",$/gm).map((id) => ({ id, file })),
  );
  expect(covered.length).toBeGreaterThan(experiments.length);
  expect(covered.filter(({ id }) => !defined.has(id)).map(({ id, file }) => `${id} in ${file}`)).toEqual([]);
});

test("each id in a test title is defined in docs/requirements.md or SECURITY.md", () => {
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
