import { describe, expect, test } from "vitest";
import { COMMANDS, OLD_SPELLINGS } from "./commands.ts";
import { commandsOf, createProgram } from "./program.ts";

const commands = commandsOf(createProgram());
/** Commands without an answer that could be JSON. */
const WITHOUT_JSON = new Set(["worker", "serve", "demo", "init", "completion", "token", "webhook"]);
const OLD = new Set(OLD_SPELLINGS.map(({ path }) => path));

/** Splits a line as a shell does. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/ [<|>].*$/, "").matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

test("every command has a summary, a group and examples", () => {
  const listed = commands.map(({ path }) => path).filter((path) => !OLD.has(path));
  expect(COMMANDS.map(({ path }) => path).toSorted()).toEqual(listed.toSorted());
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

describe("the help", () => {
  const HELP = createProgram().helpInformation();
  const [before = "", operators = ""] = HELP.split("\nSet up and operate:");
  const namesIn = (text: string): string[] => [...text.matchAll(/^ {2}([a-z][\w-]*) /gm)].map(([, name = ""]) => name);

  test("lists at most 20 commands for users, then those for operators (A11)", () => {
    expect(namesIn(before).length).toBeGreaterThan(15);
    expect(namesIn(before).length).toBeLessThanOrEqual(20);
    expect(namesIn(operators)).toEqual(
      expect.arrayContaining(["init", "doctor", "serve", "worker", "token", "migrate"]),
    );
  });

  test("does not list earlier spellings, which still run (A11)", async () => {
    expect(namesIn(HELP).filter((name) => OLD.has(name))).toEqual([]);
    const lines = [
      "ask why",
      "verify why",
      "deep-research why",
      "find words",
      "figures --json",
      "check-research-status 3f2a9c1e",
      "stop 3f2a9c1e --delete --yes",
      "resume 3f2a9c1e --accept-possible-double-charge",
      "rename 3f2a9c1e a title",
      "star 3f2a9c1e",
      "unstar 3f2a9c1e",
      "archive 3f2a9c1e",
      "unarchive 3f2a9c1e",
      "dashboard --no-open",
    ];
    expect(new Set(lines.map((line) => line.split(" ")[0]))).toEqual(OLD);
    for (const line of lines) {
      const program = createProgram();
      const called: string[] = [];
      for (const one of commandsOf(program)) one.command.action(() => void called.push(one.path));
      await program.parseAsync(wordsOf(line), { from: "user" });
      expect(called).toEqual([line.split(" ")[0]]);
    }
  });
});

test("the legacy deep-research says what it runs, and which command is Google's Deep Research (A11)", () => {
  const legacy = commandsOf(createProgram()).find(({ path }) => path === "deep-research");
  expect(legacy?.command.description()).toMatch(
    /^Write a quick report in one round.*Google's Deep Research: research$/,
  );
});
