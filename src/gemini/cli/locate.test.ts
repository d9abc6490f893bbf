import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCliLocator } from "./locate.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cli-locate-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, content = ""): string {
  const file = join(folder, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content, { mode: 0o755 });
  return file;
}

const find = (path: string, platform: NodeJS.Platform = "linux") =>
  createCliLocator({ environment: { Path: path }, platform })();

test("the first directory on PATH with the CLI is used (C1)", () => {
  put("b/gemini");
  put("c/gemini");
  expect(find(["a", "b", "c"].map((name) => join(folder, name)).join(":"))).toEqual({
    command: join(folder, "b/gemini"),
    leadingArgs: [],
    file: join(folder, "b/gemini"),
  });
});

test("the current directory is never searched, even if PATH contains it (T4)", () => {
  put("gemini");
  const before = process.cwd();
  process.chdir(folder);
  try {
    expect([".", "", "./", ":"].map((path) => find(path))).toEqual([undefined, undefined, undefined, undefined]);
  } finally {
    process.chdir(before);
  }
});

test("on Windows the package's JavaScript is run with our own Node, never the .cmd (C1)", () => {
  put("global/gemini.cmd");
  put("global/node_modules/@google/gemini-cli/package.json", '{"bin":{"gemini":"bundle/gemini.js"}}');
  const entry = put("global/node_modules/@google/gemini-cli/bundle/gemini.js");
  expect(find(join(folder, "global"), "win32")).toEqual({
    command: process.execPath,
    leadingArgs: [entry],
    file: entry,
  });

  put("local/node_modules/.bin/gemini.cmd");
  put("local/node_modules/@google/gemini-cli/package.json", '{"bin":"index.js"}');
  const local = put("local/node_modules/@google/gemini-cli/index.js");
  expect(find(`"${join(folder, "local/node_modules/.bin")}"`, "win32")?.leadingArgs).toEqual([local]);
});

test("on Windows a .cmd without its package is ignored (C1)", () => {
  put("lonely/gemini.cmd");
  expect(find(join(folder, "lonely"), "win32")).toBeUndefined();
});
