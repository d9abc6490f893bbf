/** The documents: their commands can be typed, their links lead somewhere, and the package carries them. */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { FACTS } from "../distribution/facts.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { commandsOf, createProgram } from "../src/cli/program.ts";
import { documentedCommands, readDocument, ROOT, USER_DOCUMENTS } from "./kit/documents.ts";

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readDocument("package.json")));

describe("commands in code blocks", () => {
  const commands = USER_DOCUMENTS.flatMap(documentedCommands);
  const own = commands.filter(({ words: [program] }) => program === "gemini-search-mcp");

  test("are split as a shell would do it", () => {
    expect(own.find(({ line }) => line.includes("--rows"))?.words).toContain("one row per heat pump");
    expect(own.find(({ line }) => line.startsWith("echo"))?.words).toEqual(["gemini-search-mcp", "search", "-"]);
    expect(own.find(({ line }) => line.startsWith("eval"))?.words[1]).toBe("completion");
  });

  test("have commands, arguments and options that exist", async () => {
    expect(own.length).toBeGreaterThan(120);
    const problems = await Promise.all(
      own.map(async ({ file, line, words }) => [`${file}: ${line}`, await problemOf(words.slice(1))]),
    );
    expect(problems.filter(([, problem]) => problem !== undefined)).toEqual([]);
    const listed = new Set(COMMANDS.map(({ path }) => path));
    expect(own.filter(({ words: [, name = ""] }) => /^[a-z]/.test(name) && !listed.has(name))).toEqual([]);
    expect(await problemOf(["search", "--no-such-option", "x"])).toContain("--no-such-option");
  });

  test("name npm scripts that exist", () => {
    const named = commands.flatMap(({ words: [program, run, name = ""] }) =>
      program === "npm" && run === "run" ? [name] : [],
    );
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

test("commands and options in the text exist", () => {
  const program = createProgram();
  const known = new Map(
    commandsOf(program).map(({ path, command }) => [
      path,
      new Set([...command.options, ...program.options].flatMap(({ long }) => long ?? [])),
    ]),
  );
  const INLINE = /`(gemini-search-mcp )?([a-z][a-z-]*)((?: [^`\n]+)?)`/g;
  const wrong = USER_DOCUMENTS.flatMap((file) =>
    [...readDocument(file).matchAll(INLINE)].flatMap(([all, program, name = "", rest = ""]) => {
      const options = [...rest.matchAll(/(?<= )--[a-z-]+/g)].map(([option]) => option);
      // Without the program in front it can be anything, such as a command of another program.
      if (program === undefined && (!known.has(name) || options.length === 0)) return [];
      const nested = `${name} ${rest.split(" ")[1]}`;
      const allowed = known.get(known.has(nested) ? nested : name);
      return allowed !== undefined && options.every((option) => allowed.has(option)) ? [] : [`${file}: ${all}`];
    }),
  );
  expect(wrong).toEqual([]);
});

/** What the real program says against a command line, without running the command. */
async function problemOf(args: string[]): Promise<string | undefined> {
  const program = createProgram();
  for (const { command } of [{ command: program }, ...commandsOf(program)]) {
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    // `schedule` has commands below it, and is one itself.
    if (command.commands.length === 0 || command.registeredArguments.length > 0) command.action(() => undefined);
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? undefined : error.message;
  }
}

const markdownIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".md"));

const ALL_DOCUMENTS = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...[".github", "docs", "skills", "test/kit"].flatMap(markdownIn),
];

interface Link {
  file: string;
  target: string;
  /** The rest of its line. */
  after: string;
}

/** Of Markdown, and of pictures in HTML; not in code. */
function linksIn(file: string): Link[] {
  const text = readDocument(file)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "`…`");
  return [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ({ 0: link, 1: target, 2: picture, index }) => ({
      file,
      target: target ?? picture ?? "",
      after: text.slice(index + link.length).split("\n", 1)[0] ?? "",
    }),
  );
}

/** The anchors that GitHub gives to headings. */
function anchorsIn(file: string): Set<string> {
  const headings = [
    ...readDocument(file)
      .replaceAll(/^ *```[\s\S]*?^ *```$/gm, "")
      .matchAll(/^#{1,6} (.+)$/gm),
  ];
  const anchors = headings.map(([, heading = ""]) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-"),
  );
  return new Set(
    anchors.map((anchor, index) => {
      const before = anchors.slice(0, index).filter((other) => other === anchor).length;
      return before === 0 ? anchor : `${anchor}-${before}`;
    }),
  );
}

/** A file of the repository from its root, or nothing for an address elsewhere. */
function localTarget({ file, target }: Link): { path: string; anchor: string | undefined } | undefined {
  const own = [`${FACTS.repository}/blob/main/`, `${FACTS.repository}/tree/main/`].find((begin) =>
    target.startsWith(begin),
  );
  if (own === undefined && /^[a-z]+:/.test(target)) return undefined;
  const [path = "", anchor] = (own === undefined ? target : target.slice(own.length)).split("#");
  const from = own === undefined ? dirname(join(ROOT, file)) : ROOT;
  return { path: path === "" ? file : relative(ROOT, join(from, path)), anchor };
}

test("every link in a document leads to a file and a heading that exist", () => {
  const links = ALL_DOCUMENTS.flatMap(linksIn);
  expect(links.length).toBeGreaterThan(250);
  const dead = links.filter((link) => {
    const local = localTarget(link);
    if (local === undefined) return false;
    if (!existsSync(join(ROOT, local.path))) return true;
    return local.anchor !== undefined && !anchorsIn(local.path).has(local.anchor);
  });
  expect(dead.map(({ file, target }) => `${file}: ${target}`)).toEqual([]);
});

const packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));

describe("the package", () => {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const paths = packed.parse(JSON.parse(output)).flatMap(({ files }) => files.map(({ path }) => path));
  const isPacked = (path: string): boolean => paths.some((each) => each === path || each.startsWith(`${path}/`));
  const targetsOf = (file: string): string[] =>
    linksIn(file).flatMap((link) => {
      const path = localTarget(link)?.path;
      // Pictures are in the repository only, and so is what a page says is there.
      const isElsewhere = link.target.endsWith(".png") || link.after.includes("(in the repository)");
      return path === undefined || isElsewhere ? [] : [path];
    });

  test("has every file that README and its pages link to", () => {
    const pages = USER_DOCUMENTS.filter((file) => file !== "docs/README.md");
    expect(targetsOf("README.md").length).toBeGreaterThan(15);
    expect(pages.flatMap(targetsOf).filter((path) => !isPacked(path))).toEqual([]);
    const missing = targetsOf("docs/README.md").filter((path) => !isPacked(path));
    expect(missing).toEqual(["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/engineering/README.md"]);
  });

  test("has no documents besides these", () => {
    const reached = new Set(["README.md"]);
    for (const file of reached) {
      for (const path of targetsOf(file)) if (/^(?:docs\/)?[^/]+\.md$/.test(path) && isPacked(path)) reached.add(path);
    }
    const documents = paths.filter((path) => /^(?:docs\/.*|[^/]+)\.md$/.test(path));
    expect(documents.toSorted()).toEqual([...reached].toSorted());
    expect(paths.filter((path) => path.startsWith("docs/engineering/"))).toEqual([]);
  });
});
