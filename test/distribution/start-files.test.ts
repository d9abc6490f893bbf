/** What the files of the bundle load: rolldown.config.ts groups the modules of a start. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../kit/server/server.ts";

const DIST = join(ROOT, "dist");

const fileNamed = (name: string): string =>
  readdirSync(DIST).find((file) => file.startsWith(`${name}-`) && file.endsWith(".js")) ?? `no ${name}`;

/** The file and what it imports statically, at any depth. */
function loadedBy(file: string, loaded = new Set<string>()): Set<string> {
  loaded.add(file);
  for (const [, name = ""] of readFileSync(join(DIST, file), "utf8").matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) {
    if (!loaded.has(name)) loadedBy(name, loaded);
  }
  return loaded;
}

test("a start loads four files besides main.js, a command not the MCP SDK, the page worker nothing of the app (A2, A11)", () => {
  const [base, app, mcp] = ["base", "app", "mcp"].map(fileNamed);
  expect([...loadedBy("main.js")]).toEqual(["main.js", base]);
  expect(loadedBy(mcp ?? "").size).toBe(4);
  expect(loadedBy(mcp ?? "")).toContain(app);
  expect([...loadedBy(fileNamed("program"))]).not.toContain(mcp);
  expect([...loadedBy("page-worker.js")]).not.toContain(app);
});
