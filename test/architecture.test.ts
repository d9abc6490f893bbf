/** Checks the architecture: import directions, names, and what only one file may do. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { TABLES } from "../src/store/migrations/0001-tables.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

const DRAWERS = /^(?:utils?|helpers?|common|shared|lib|types|constants|misc|index)(?:\.ts)?$/;

interface SourceFile {
  /** Relative to the scanned folder, with `/`. */
  file: string;
  text: string;
  isTest: boolean;
}

const sourcesIn = (folder: string): SourceFile[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ({
      file: file.replaceAll("\\", "/"),
      text: readFileSync(join(folder, file), "utf8"),
      isTest: file.endsWith(".test.ts"),
    }));

const sources = sourcesIn(SRC);
const product = sources.filter(({ isTest }) => !isTest);
const simulator = sourcesIn(join(ROOT, "simulator"));

/** The first component of a path: a folder of src/, or a file at its top. */
const areaOf = (file: string): string => file.split("/")[0] ?? file;

const importsOf = ({ file, text }: SourceFile): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(SRC, resolve(SRC, dirname(file), match[1] ?? "")).replaceAll("\\", "/"),
  );

interface Dependencies {
  /** The folder or file that the list governs. Imports within it are always allowed. */
  area: string;
  allowed: string[];
}

/** Reads the DEPS.list of the file's folder or of the nearest parent folder that has one. */
function dependenciesOf(file: string): Dependencies {
  for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
    const list = join(SRC, folder, "DEPS.list");
    if (existsSync(list)) return { area: folder, allowed: entriesOf(readFileSync(list, "utf8")) };
  }
  const sections = readFileSync(join(SRC, "DEPS.list"), "utf8").split(/^\[(.+)\]$/m);
  const section = sections.indexOf(file);
  return { area: file, allowed: section === -1 ? [] : entriesOf(sections[section + 1] ?? "") };
}

const entriesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");

const covers = (entry: string, target: string): boolean => target === entry || target.startsWith(`${entry}/`);

test("each folder imports only what its DEPS.list allows, and lists nothing that it does not import", () => {
  const wrong: string[] = [];
  const used = new Map<string, Set<string>>();
  const listed = new Map<string, string[]>();
  for (const source of product) {
    const { area, allowed } = dependenciesOf(source.file);
    listed.set(area, allowed);
    for (const target of importsOf(source)) {
      if (covers(area, target)) continue;
      const entry = allowed.find((candidate) => covers(candidate, target));
      if (entry === undefined) wrong.push(`${source.file} imports ${target}`);
      else used.set(area, (used.get(area) ?? new Set()).add(entry));
    }
  }
  expect(wrong).toEqual([]);
  const unused = [...listed].flatMap(([area, allowed]) =>
    allowed.filter((entry) => !used.get(area)?.has(entry)).map((entry) => `${area}: ${entry}`),
  );
  expect(unused).toEqual([]);
});

test("the simulator shares no code with the product", () => {
  const inner = simulator
    .filter(({ isTest }) => !isTest)
    .filter(({ text }) => /(?:from|import)\s*\(?\s*"(?:\.\.\/)+src\//.test(text));
  expect(inner.map(({ file }) => file)).toEqual([]);
});

test("there are no import cycles", () => {
  const graph = new Map(product.map((source) => [source.file, importsOf(source)]));
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === "open") cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (state.has(file)) return;
    state.set(file, "open");
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    state.set(file, "done");
  };
  for (const file of graph.keys()) visit(file, []);
  expect(cycles).toEqual([]);
});

test("no file is named as a drawer, and each opens with its responsibility", () => {
  const wrong = [...sources, ...simulator].flatMap(({ file, text, isTest }) => [
    ...(file.split("/").some((part) => DRAWERS.test(part)) ? [`${file}: a drawer`] : []),
    ...(isTest || text.startsWith("/**") ? [] : [`${file}: no opening sentence`]),
  ]);
  expect(wrong).toEqual([]);
});

const filesWith = (pattern: RegExp, allowed: string[]): string[] =>
  product.filter(({ file, text }) => pattern.test(text) && !allowed.includes(file)).map(({ file }) => file);

test("the environment and stdout are used in one file each, and a shell nowhere", () => {
  expect(filesWith(/process\.env\b/, ["config/environment.ts"])).toEqual([]);
  expect(filesWith(/process\.stdout\.write|console\.(?:log|info)/, ["cli/output.ts"])).toEqual([]);
  expect(filesWith(/shell:\s*true|\beval\(/, [])).toEqual([]);
  // `exec` and `execSync` run a shell.
  expect(filesWith(/import\s*\{[^}]*\bexec(?:Sync)?\b[^}]*\}\s*from\s*"node:child_process"/, [])).toEqual([]);
});

/** Matches an update of runs that sets the status. */
const STATUS_WRITE =
  /updateTable\("research_tasks"\)(?:(?!execute|updateTable|selectFrom|insertInto)[\s\S])*?\bstatus\b\s*[:,}]/;

test("only the transition function writes the status of a run", () => {
  expect(filesWith(STATUS_WRITE, ["runs/transition-store.ts"])).toEqual([]);
  expect(filesWith(STATUS_WRITE, [])).toEqual(["runs/transition-store.ts"]);
});

test("each table belongs to one folder, and there only its stores name it", () => {
  const tables = Object.keys(TABLES);
  expect(tables.length).toBeGreaterThan(10);
  const list = (files: SourceFile[]): string => files.map(({ file }) => file).join(", ");
  for (const table of tables) {
    const named = product.filter(({ text }) => new RegExp(`(?:From|Into|Table|join|Join)\\("${table}`).test(text));
    const owners = named.filter(({ file }) => !file.includes("migrations"));
    expect(new Set(owners.map(({ file }) => areaOf(file))).size, `${table}: ${list(owners)}`).toBeLessThanOrEqual(1);
    const others = owners.length > 1 ? owners.filter(({ file }) => !file.endsWith("-store.ts")) : [];
    expect(list(others), table).toBe("");
  }
});
