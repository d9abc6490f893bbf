/** Checks what ARCHITECTURE.md says about files: its map names every folder, and its walks are short. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const SRC = join(ROOT, "src");
const text = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
const sections = text.split(/^## /m).map((section) => {
  const [title = "", ...lines] = section.split("\n");
  return { title, lines };
});

const MAX_FILES_IN_A_WALK = 12;
/** In the map, names are before this column. */
const DESCRIPTION_COLUMN = 25;

/** The part of the map about each folder of src/, or about a file at its top. */
function mapOfSources(): Map<string, string> {
  const lines = sections.find(({ title }) => title === "Map")?.lines ?? [];
  const start = lines.indexOf("src/") + 1;
  const end = lines.findIndex((line, index) => index >= start && /^\S/.test(line));
  const parts = new Map<string, string>();
  let names: string[] = [];
  for (const line of lines.slice(start, end)) {
    if (/^ {2}\S/.test(line)) names = line.slice(0, DESCRIPTION_COLUMN).trim().split(/ +/);
    for (const name of names) parts.set(name, `${parts.get(name) ?? ""}${line}\n`);
  }
  return parts;
}

const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`);

describe("the map of ARCHITECTURE.md", () => {
  const map = mapOfSources();

  test("names every folder and file of src/, and nothing else", () => {
    const files = readdirSync(SRC).filter((name) => name.endsWith(".ts"));
    const named = [...map.entries()].flatMap(([name, part]) => [name, ...(part.match(/\b[\w-]+\.ts\b/g) ?? [])]);
    expect(files.filter((file) => !named.includes(file))).toEqual([]);
    expect([...map.keys()].filter((name) => !existsSync(join(SRC, name)))).toEqual([]);
    expect(foldersIn(SRC).filter((folder) => !map.has(folder))).toEqual([]);
  });

  test("names the folders in each folder of src/", () => {
    const missing = foldersIn(SRC).flatMap((folder) =>
      foldersIn(join(SRC, folder))
        .filter((inner) => !map.get(folder)?.includes(inner))
        .map((inner) => folder + inner),
    );
    expect(missing).toEqual([]);
  });
});

/** Files in backticks. A bare name is in the folder of the file named before it. */
function filesIn(lines: string[]): string[] {
  let folder = "";
  return [...lines.join("\n").matchAll(/`([\w/.-]+\.(?:tsx?|json))`/g)].map(([, name = ""]) => {
    const inFolder = join(folder, name);
    const file = !name.includes("/") && existsSync(join(SRC, inFolder)) ? inFolder : name;
    folder = dirname(file);
    return file;
  });
}

describe("the walks of ARCHITECTURE.md", () => {
  const walks = sections
    .map(({ title, lines }) => ({ title, steps: lines.filter((line) => /^\d+\. /.test(line)) }))
    .filter(({ steps }) => steps.length > 0);

  test("are the three that a reader needs", () => {
    expect(walks).toHaveLength(3);
  });

  test.each(walks)("$title: at most 12 files, none of them twice", ({ steps }) => {
    const files = filesIn(steps);
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(MAX_FILES_IN_A_WALK);
    expect(new Set(files).size).toBe(files.length);
  });
});

test("every file that ARCHITECTURE.md names exists", () => {
  const missing = sections
    .flatMap(({ lines }) => filesIn(lines))
    .filter((file) => ![SRC, ROOT].some((folder) => existsSync(join(folder, file))));
  expect(missing).toEqual([]);
});
