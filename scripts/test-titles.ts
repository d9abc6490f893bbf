/**
 * Reads the titles of all tests, and adds those that cite a requirement to test/requirement-titles.txt
 * (`npm run titles`). A line is never removed: of a removed title it ends with the reason.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";

type Node = Parameters<NonNullable<ConstructorParameters<typeof Visitor>[0]["CallExpression"]>>[0];
type Title = { file: string; text: string };

const ROOT = join(import.meta.dirname, "..");
const LIST = join(ROOT, "test/requirement-titles.txt");

export const ID = String.raw`(?:[A-Z]\d{1,2}|[A-Z]{1,2}-\d{1,3})`;
export const CITATION = new RegExp(String.raw` \((${ID}(?:, ${ID})*)\)$`);
const REMOVED = / \[removed: .{10,}\]$/;

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
  new Visitor({ CallExpression }).visit(parseSync(file, readFileSync(join(ROOT, file), "utf8")).program);
  return titles;
}

export const readTitles = (): Title[] =>
  ["src", "simulator", "test"]
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
    )
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap(titlesOf);

/** One line for each id that a title cites. */
export const citedLines = (titles: Title[]): Set<string> =>
  new Set(
    titles.flatMap(({ text }) =>
      (CITATION.exec(text)?.[1]?.split(", ") ?? []).map((id) => `${id} ${text.replace(CITATION, "")}`),
    ),
  );

/** The titles of the list, and those of them that were removed for a stated reason. */
export function listedTitles(): { present: string[]; removed: string[] } {
  const lines = readFileSync(LIST, "utf8").split("\n").filter(Boolean);
  return {
    present: lines.filter((line) => !REMOVED.test(line)),
    removed: lines.filter((line) => REMOVED.test(line)).map((line) => line.replace(REMOVED, "")),
  };
}

if (import.meta.main) {
  const lines = readFileSync(LIST, "utf8").split("\n").filter(Boolean);
  const known = new Set(lines);
  const added = [...citedLines(readTitles())].filter((line) => !known.has(line));
  writeFileSync(LIST, `${[...lines, ...added].toSorted().join("\n")}\n`);
}
