/** Prints how much there is to know: counts of the product, taken from its sources (`npm run counts`). */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "rolldown/utils";
import { COMMANDS } from "../src/cli/commands.ts";
import { SETTINGS } from "../src/config/settings.ts";
import { ERROR_CODES } from "../src/errors.ts";
import { STORED_STATUSES } from "../src/runs/run.ts";
import { TABLES } from "../src/store/migrations/0001-tables.ts";

const ROOT = join(import.meta.dirname, "..");

const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const linesOf = (file: string): number => textOf(file).split("\n").length - 1;
const total = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0);

const product = execFileSync("git", ["ls-files", "src"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(?:ts|tsx|css)$/.test(file) && !/\.test\./.test(file));

const otherTables = product
  .filter((file) => file.startsWith("src/store/"))
  .flatMap((file) => [...textOf(file).matchAll(/create (?:virtual )?table (?:if not exists )?(\w+)/g)])
  .map(([, name]) => name);

/** The files whose code this one runs: imports of types only are no part of it, dynamic imports are. */
function importsOf(file: string): string[] {
  const text = textOf(file);
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const isOfValues = (entries: { isType: boolean }[]): boolean =>
    entries.length === 0 || entries.some(({ isType }) => !isType);
  const paths = [
    ...staticImports.filter(({ entries }) => isOfValues(entries)).map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.filter(({ isType }) => !isType).map(({ moduleRequest }) => moduleRequest?.value ?? ""),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  return paths.filter((path) => /^\..*\.tsx?$/.test(path)).map((path) => join(dirname(file), path));
}

function reachedFrom(entry: string): string[] {
  const reached = new Set([entry]);
  // Grows while it is read.
  for (const file of reached) for (const imported of importsOf(file)) reached.add(imported);
  return [...reached];
}

const inFiles = (files: string[]): string => `${files.length} files, ${total(files.map(linesOf))} lines`;
const passedBy = (entry: string): string => inFiles(reachedFrom(`src/operations/${entry}`));

const COUNTS: Record<string, number | string> = {
  "the product": inFiles(product),
  tables: new Set([...Object.keys(TABLES), ...otherTables]).size,
  settings: Object.keys(SETTINGS).length,
  "error codes": Object.keys(ERROR_CODES).length,
  "run states": STORED_STATUSES.length,
  commands: COMMANDS.length,
  "decision records": readdirSync(join(ROOT, "docs/engineering/decisions")).filter((name) => /^\d{4}-/.test(name))
    .length,
  "a search passes": passedBy("search.ts"),
  "a start passes": passedBy("start-deep-research.ts"),
  "a check of citations passes": passedBy("citations/verify-citations.ts"),
};

for (const [name, count] of Object.entries(COUNTS)) console.log(`${name.padEnd(28)} ${count}`);
