import { expect, test } from "vitest";
import { COMMANDS } from "./commands.ts";
import { commandsOf, createProgram } from "./program.ts";

const commands = commandsOf(createProgram());
/** Commands without an answer that could be JSON. */
const WITHOUT_JSON = new Set(["worker", "serve", "dashboard", "demo", "init", "completion", "token"]);

/** Splits a line as a shell does. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/ [<|>].*$/, "").matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

test("every command has a summary, a group and examples", () => {
  expect(COMMANDS.map(({ path }) => path).toSorted()).toEqual(commands.map(({ path }) => path).toSorted());
  for (const { summary, description, examples } of COMMANDS) {
    expect([summary ?? description, ...examples]).not.toContain("");
  }
});

test.each(COMMANDS.flatMap(({ path, examples }) => examples.map((line) => [path, line] as const)))(
  "%s: the example `%s` is parsed without an error",
  async (path, line) => {
    const program = createProgram();
    const called: string[] = [];
    for (const one of commandsOf(program)) one.command.action(() => void called.push(one.path));
    await program.parseAsync(wordsOf(line), { from: "user" });
    expect(called[0]).toMatch(new RegExp(`^${path}`));
  },
);

test("every command named under see also exists", () => {
  const known = new Set(commands.map(({ path }) => path));
  expect(COMMANDS.flatMap(({ seeAlso = [] }) => seeAlso).filter((name) => !known.has(name))).toEqual([]);
});

test("every command that returns an answer accepts --json (A6)", () => {
  const without = commands.filter(({ command }) => !command.options.some(({ long }) => long === "--json"));
  expect(without.map(({ path }) => path).filter((path) => !WITHOUT_JSON.has(path))).toEqual([]);
});
