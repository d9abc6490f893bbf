/** The README: its opening commands exist, and its links lead to files that are part of the package. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { FACTS } from "../distribution/facts.ts";
import { createProgram } from "../src/cli/program.ts";

const ROOT = join(import.meta.dirname, "..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")));

const CODE_BLOCK = /^```sh\n([\s\S]*?)^```$/gm;
/** The commands of a block, without comments. */
const commandsIn = (block: string): string[] =>
  block
    .split(/\n|&&/)
    .map((line) => line.replace(/\s#.*/, "").trim())
    .filter((line) => line !== "");
const COMMANDS = [...README.matchAll(CODE_BLOCK)].flatMap(([, block = ""]) => commandsIn(block));

test("it opens with two lines from a clone to a connected assistant", () => {
  const [, opening = ""] = [...README.matchAll(CODE_BLOCK)][0] ?? [];
  expect(README.indexOf(opening)).toBeLessThan(700);
  expect(opening.trim().split("\n")).toHaveLength(2);
  expect(commandsIn(opening)).toEqual(["npm ci", "npm run demo", "npm install -g .", "gemini-search-mcp init"]);
});

test("the commands that run the demo and the tests are in it, as they are typed (X6)", () => {
  const lines = [...README.matchAll(CODE_BLOCK)].flatMap(([, block = ""]) => block.split("\n"));
  expect(lines.filter((line) => line.startsWith("npm ci && npm run demo "))).toHaveLength(1);
  expect(lines.filter((line) => line === "npm ci && npm test")).toHaveLength(1);
});

test("every npm script and command in its code blocks exists", () => {
  const named = (pattern: RegExp): string[] => COMMANDS.flatMap((line) => pattern.exec(line)?.[1] ?? []);
  const missingScripts = named(/^npm run ([\w-]+)/).filter((name) => scripts[name] === undefined);
  const commands = createProgram().commands.map((command) => command.name());
  const used = named(/(?:^|\| )gemini-search-mcp ([\w-]+)/);
  expect(used.length).toBeGreaterThan(5);
  expect([...missingScripts, ...used.filter((name) => !commands.includes(name))]).toEqual([]);
});

const packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));

test("every file that it links to is in the package", () => {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const paths = packed.parse(JSON.parse(output)).flatMap(({ files }) => files.map(({ path }) => path));
  const links = [...README.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = ""]) => path);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !paths.some((path) => path === link || path.startsWith(`${link}/`)))).toEqual([]);
});

test("its picture is not in the package, but in the repository at the address that it names (X4)", () => {
  const raw = `${FACTS.repository.replace("//github.com/", "//raw.githubusercontent.com/")}/main/`;
  const pictures = [...README.matchAll(/!\[[^\]]+\]\((https:[^)]+)\)/g)].map(([, url = ""]) => url);
  const own = pictures.filter((url) => url.endsWith(".png"));
  expect(own).toHaveLength(1);
  for (const url of own) {
    expect(url.startsWith(raw)).toBe(true);
    expect(existsSync(join(ROOT, url.slice(raw.length)))).toBe(true);
  }
});
