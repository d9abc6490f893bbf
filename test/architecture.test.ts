/** The architecture as a check: who may import whom, and what must stand nowhere but in its place. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

/** Folder (or file at the top) → what it may import besides itself. Reading order is import order. */
const MAY_IMPORT: Record<string, string[]> = {
  "main.ts": ["app.ts", "cli", "mcp", "platform"],
  "app.ts": [
    "compose-research.ts",
    "config.ts",
    "operations",
    "runs",
    "search",
    "costs",
    "gemini",
    "store",
    "platform",
    "telemetry",
    "errors.ts",
  ],
  "compose-research.ts": [
    "config.ts",
    "operations",
    "runs",
    "reports",
    "costs",
    "gemini",
    "notifications",
    "queue",
    "store",
    "platform",
    "telemetry",
    "errors.ts",
  ],
  "config.ts": ["settings.ts", "setting.ts"],
  "settings.ts": ["setting.ts", "telemetry-settings.ts"],
  "telemetry-settings.ts": ["setting.ts"],
  "setting.ts": [],
  "errors.ts": [],
  cli: [
    "app.ts",
    "config.ts",
    "settings.ts",
    "doctor",
    "http",
    "mcp",
    "operations",
    "notifications",
    "setup",
    "runs",
    "costs",
    "store",
    "platform",
    "errors.ts",
    "telemetry",
  ],
  http: ["app.ts", "config.ts", "mcp", "web", "store", "platform", "telemetry", "errors.ts"],
  web: ["app.ts", "operations", "runs", "reports", "costs", "store", "platform", "errors.ts"],
  mcp: ["app.ts", "operations", "runs", "platform", "telemetry", "errors.ts"],
  doctor: ["config.ts", "runs", "costs", "gemini", "notifications", "store", "platform", "errors.ts"],
  operations: ["runs", "search", "reports", "costs", "gemini", "store", "platform", "telemetry", "errors.ts"],
  runs: ["reports", "costs", "gemini", "notifications", "queue", "store", "platform", "telemetry", "errors.ts"],
  queue: ["store", "platform", "errors.ts"],
  notifications: ["store", "platform", "errors.ts"],
  search: ["gemini", "platform", "errors.ts"],
  reports: ["costs", "gemini", "platform", "errors.ts"],
  costs: ["gemini", "platform", "errors.ts"],
  gemini: ["platform", "telemetry", "errors.ts"],
  store: ["platform", "errors.ts"],
  telemetry: ["platform", "errors.ts"],
  platform: ["errors.ts"],
  setup: ["platform", "errors.ts"],
  simulator: [],
};

const DRAWERS = /^(?:utils?|helpers?|common|shared|lib|types|constants|misc|index)(?:\.ts)?$/;

const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), "utf8"), isTest: file.endsWith(".test.ts") }));
const product = sources.filter(({ isTest }) => !isTest);

const room = (file: string): string => file.split(/[\\/]/)[0] ?? file;

const importsOf = ({ file, text }: { file: string; text: string }): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(SRC, resolve(SRC, dirname(file), match[1] ?? "")),
  );

test("imports go down only", () => {
  const wrong = product.flatMap((source) =>
    importsOf(source)
      .filter((target) => room(target) !== room(source.file) && !MAY_IMPORT[room(source.file)]?.includes(room(target)))
      .map((target) => `${source.file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("the page in the browser knows of the server only what they say to each other", () => {
  const wrong = product
    .filter(({ file }) => file.startsWith("web/page/"))
    .flatMap((source) =>
      importsOf(source)
        .filter((target) => !target.startsWith("web/page/") && target !== "web/wire.ts")
        .map((target) => `${source.file} imports ${target}`),
    );
  expect(wrong).toEqual([]);
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

test("no file is longer than 300 lines, none is a drawer, each opens with its part in the story", () => {
  const wrong = sources.flatMap(({ file, text, isTest }) => [
    ...(text.split("\n").length > 301 ? [`${file}: over 300 lines`] : []),
    ...(file.split(/[\\/]/).some((part) => DRAWERS.test(part)) ? [`${file}: a drawer`] : []),
    ...(isTest || text.startsWith("/**") ? [] : [`${file}: no opening sentence`]),
  ]);
  expect(wrong).toEqual([]);
  expect(readdirSync(join(SRC, "platform")).filter((file) => !file.includes(".test.")).length).toBeLessThanOrEqual(10);
});

/** The stand-in is a program of its own: it has stdout and an environment because the Gemini CLI has. */
const only = (pattern: RegExp, allowed: string[]): string[] =>
  product
    .filter(({ file, text }) => pattern.test(text) && !allowed.includes(file) && !file.startsWith("simulator/standin-"))
    .map(({ file }) => file);

const list = (files: { file: string }[]): string => files.map(({ file }) => file).join(", ");

test("the environment, stdout, the shell and each table have one place", () => {
  expect(only(/process\.env\b/, ["config.ts"])).toEqual([]);
  expect(only(/process\.stdout\.write|console\.(?:log|info)/, ["cli/output.ts"])).toEqual([]);
  expect(only(/shell:\s*true|\bexecSync\b|\beval\(/, [])).toEqual([]);
  const migrations = product.filter(({ file }) => file.includes("migrations"));
  const tables = migrations.flatMap(({ text }) => [...text.matchAll(/createTable\("(\w+)"/g)]);
  expect(tables.length).toBeGreaterThan(10);
  // One folder owns a table, and there only its stores name it.
  for (const [, table] of tables) {
    const named = product.filter(({ text }) => new RegExp(`(?:From|Into|Table|join|Join)\\("${table}`).test(text));
    const owners = named.filter(({ file }) => !file.includes("migrations"));
    expect(new Set(owners.map(({ file }) => room(file))).size, `${table}: ${list(owners)}`).toBeLessThanOrEqual(1);
    const others = owners.length > 1 ? owners.filter(({ file }) => !file.endsWith("-store.ts")) : [];
    expect(list(others), table).toBe("");
  }
});
