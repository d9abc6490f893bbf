/** Texts for people name commands and flags, never tools or parameters, and follow the wording rules. */

import { describe, expect, test } from "vitest";
import { CATALOG } from "../../src/operations/catalog.ts";
import { commandsOf, createProgram } from "../../src/cli/program.ts";
import { wordingProblems } from "../kit/judge/wording.ts";
import { openResearch, QUERY, type ResearchScene } from "../kit/server/research.ts";
import { openScene } from "../kit/server/scene.ts";
import { openUserTerminal, terminals } from "../kit/server/terminal.ts";

const READY = (await terminals()) === "ready";

const NAMES = [
  ...Object.keys(CATALOG),
  ...Object.values(CATALOG).flatMap(({ input, output }) => [...Object.keys(input.shape), ...Object.keys(output.shape)]),
].filter((name) => name.includes("_"));
const FOR_MODELS = new RegExp(String.raw`(?<![\w-])(?:${[...new Set(NAMES)].join("|")})(?![\w-]|\.\w)`);
const PERSONS = /\b(?:who|whoever|nobody|somebody)\b/i;

/** Values that --kind and --status accept, and the rows of a piped list, are data. */
const wordsOf = (text: string): string =>
  text.replaceAll(/\(choices: [^)]*\)/g, "").replaceAll(/^[0-9a-f-]{36}\t.*$/gm, "");

function expectForPeople(text: string, of: string): void {
  expect(wordsOf(text), of).not.toMatch(FOR_MODELS);
  expect(wordsOf(text), of).not.toMatch(PERSONS);
}

test("the names would be found", () => {
  for (const text of ["use check_research_status", "task_id: 3f", "get_research_results shows it"]) {
    expect(text).toMatch(FOR_MODELS);
  }
  expect("--save-partial, research_reports, deep_research.db").not.toMatch(FOR_MODELS);
});

test("the help of every command is for people", () => {
  const program = createProgram();
  for (const { path, command } of [{ path: "", command: program }, ...commandsOf(program)]) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toContain("Usage: gemini-search-mcp");
    expectForPeople(help, `${path} --help`);
    expect(help.split("\n").flatMap(wordingProblems), `${path} --help`).toEqual([]);
  }
});

test("a negated flag says what it does itself", () => {
  const flags = commandsOf(createProgram()).flatMap(({ command }) =>
    command.options.filter(({ negate, hidden }) => negate && !hidden),
  );
  expect(flags.length).toBeGreaterThan(5);
  for (const { long, description } of flags) {
    expect(`${long}: ${description}`).toMatch(
      /: (?:don't|discard|leave out|print|return|remove|run without|disable|do not)/,
    );
  }
});

test("exit codes are explained once, in the list of commands", () => {
  const program = createProgram();
  const explaining = [program, ...program.commands].filter((command) => {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    return help.includes("Exit codes");
  });
  expect(explaining).toEqual([program]);
});

/** One finished run, one in progress, one whose start is unknown. */
async function openRuns(context: Parameters<typeof openResearch>[0]) {
  const scene = await openResearch(context, { duration_ms: 0 });
  const start = async (query: string, ...flags: string[]): Promise<string> =>
    JSON.parse((await scene.command(["research", query, "--json", ...flags])).stdout).task_id;
  const done = await start(QUERY, "--wait");
  scene.play({ speed: 1 });
  const running = await start("Another question");
  scene.play({ create: [{ fault: "http-500" }] });
  const unknown = await start("A third question");
  scene.play({ speed: 1 });
  return { scene, done, running, unknown };
}

const commandsFor = ({ done, running, unknown }: { done: string; running: string; unknown: string }): string[][] => [
  ["search", "which", "is", "quietest"],
  ["deep-search", "which", "is", "quietest"],
  ["deep-research", "heat", "pumps"],
  ["estimate", "heat", "pumps"],
  ["research", "heat", "pumps", "in", "Norway", "--no-wait"],
  ["research", "heat", "pumps", "in", "Norway", "--no-wait"],
  ["check-research-status", running],
  ["check-research-status", done],
  ["check-research-status", unknown],
  ["watch", done],
  ["watch", unknown],
  ["show", done],
  ["show", done, "--section", "outline"],
  ["show", done, "--section", "99"],
  ["show", running],
  ["show", unknown],
  ["show", "zzzzzz"],
  ["show", "abc"],
  ["show", "ffffffff"],
  ["list"],
  ["list", "--limit", "0"],
  ["list", "heat"],
  ["costs"],
  ["doctor", "--offline"],
  ["status"],
  ["token", "list"],
  ["save", running],
  ["retry", done],
  ["retry", running],
  ["retry", unknown],
  ["search", "?!"],
  ["deep-search", "x", "--max-iterations", "1"],
  ["cancel", done],
  ["cancel", running, "--yes"],
  ["delete", done],
  ["delete", done, "--yes"],
];

const savedIn = (scene: ResearchScene, id: string): string[] => ["save", id, "--output-dir", scene.configDir];

/** Dozens of processes, one after the other. */
const TIMEOUT_MS = 600_000;

test("answers and errors in files and pipes are for people", { timeout: TIMEOUT_MS }, async (context) => {
  const { scene, ...ids } = await openRuns(context);
  for (const args of [savedIn(scene, ids.done), ...commandsFor(ids)]) {
    const { stdout, stderr } = await scene.command(args);
    expectForPeople(stdout + stderr, args.join(" "));
  }
});

test.skipIf(!READY)("answers and errors at a terminal are for people", { timeout: TIMEOUT_MS }, async (context) => {
  const { scene, ...ids } = await openRuns(context);
  const terminal = await openUserTerminal(context, scene.env, { columns: 100, rows: 50 });
  for (const [index, args] of [savedIn(scene, ids.done), ...commandsFor(ids)].entries()) {
    if (args.includes("delete") && !args.includes("--yes")) continue;
    const before = terminal.raw().length;
    await terminal.type(`clear; gemini-search-mcp ${args.map((word) => `'${word}'`).join(" ")}; echo "over ${index}"`);
    await terminal.until(new RegExp(`^over ${index}$`, "m"));
    // After the echo of the typed line; URLs of links are not read by people.
    const [, ...lines] = terminal.raw().slice(before).split("\n");
    // oxlint-disable-next-line no-control-regex -- the links of terminals
    expectForPeople(lines.join("\n").replaceAll(/\u001B\]8;;[^\u001B]*\u001B\\/g, ""), args.join(" "));
  }
});

describe("without a key", () => {
  test("errors are for people (A3)", async (context) => {
    const scene = await openScene(context);
    const env = { GEMINI_API_KEY: "", SEARCH_BACKEND: "auto" };
    for (const args of [
      ["search", "which", "is", "quietest"],
      ["research", "heat", "pumps"],
    ]) {
      const { code, stdout, stderr } = await scene.command(args, { env });
      expect(code).toBe(1);
      expectForPeople(stdout + stderr, args.join(" "));
    }
  });
});
