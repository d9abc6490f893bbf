/** Hostile questions through the front door: they reach the Gemini CLI as text, and nothing but text. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { type CliScene, openCliScene } from "../kit/simulator/cli-scene.ts";
import { hostileQueries } from "../kit/hostile/queries.ts";
import { ROOT, type RunningServer } from "../kit/server/server.ts";

const AT_ONCE = 4;
const HARMLESS = "What is new in heat pumps";
const CONSTANT_ARGUMENTS = ["--output-format", "stream-json"];

/**
 * G9: the text itself, with a backslash before every `@` that has none yet.
 * A lone surrogate cannot be encoded in UTF-8 and arrives as U+FFFD; everything else, including NUL, is unchanged.
 */
const asSent = (query: string): string =>
  query
    .trim()
    .replaceAll(/(?<!\\)@/g, "\\@")
    .toWellFormed();

/** The fence is random; the first mark in a prompt is the template's own. */
function withoutFence(prompt: string): string {
  const fence = /^-----BEGIN (?:QUESTION|TOPIC) ([0-9a-f]{12})-----$/m.exec(prompt)?.[1];
  return fence === undefined ? prompt : prompt.replaceAll(fence, "(fence)");
}

async function askAll(ask: (query: string) => Promise<unknown>, queries: string[]): Promise<void> {
  const waiting = queries.values();
  const worker = async (): Promise<void> => {
    for (const query of waiting) await ask(query);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

interface Field {
  tool: string;
  name: string;
}

async function askGood(server: RunningServer, { tool, name }: Field, query: string): Promise<void> {
  const { structured } = await server.call(tool, { [name]: query });
  expect(structured, query).toMatchObject({ success: true });
}

interface Trial extends Field {
  queries: (canary: string) => string[];
  env?: Record<string, string>;
}

/** Asks all of them; returns the prompt of a harmless question. */
async function expectOnlyText(context: TestContext, { queries, env = {}, ...field }: Trial): Promise<string> {
  const scene = openCliScene(context);
  const server = await scene.server({ env: { GEMINI_CLI_MAX_CHILDREN: String(AT_ONCE), ...env } });
  const hostile = queries(join(scene.folder, "canary"));
  await askAll((query) => askGood(server, field, query), [HARMLESS, ...hostile]);

  const prompts = scene.children().map(({ stdin }) => withoutFence(stdin?.text ?? ""));
  const harmless = prompts.find((prompt) => prompt.includes(HARMLESS)) ?? "";
  const expected = [HARMLESS, ...hostile].map((query) => harmless.replace(HARMLESS, () => asSent(query)));
  expect(prompts.toSorted()).toEqual(expected.toSorted());
  expectNothingHappened(scene);
  await scene.expectNothingLeft();
  return harmless;
}

function expectNothingHappened(scene: CliScene): void {
  for (const { argv, cwd_listing } of scene.children()) {
    expect(argv).toEqual(CONSTANT_ARGUMENTS);
    expect(cwd_listing).toEqual([]);
  }
  const files = readdirSync(scene.folder, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.includes("canary"))).toEqual([]);
  expect(readdirSync(join(scene.folder, "home"))).toEqual([]);
}

function expectTemplate(prompt: string, name: string): void {
  const template = readFileSync(join(ROOT, "prompts", `${name}.md`), "utf8");
  const fixed = template.split("\n").filter((line) => !line.includes("{{"));
  for (const line of fixed) expect(prompt.split("\n")).toContain(line);
}

/** Each of the 200 is a process. */
const timeout = 180_000;

test(
  "200 hostile questions are text: same arguments, same prompt around them (C2, G9, T1, T2, T3, T8)",
  { timeout },
  async (context) => {
    expect(new Set(hostileQueries("/canary").map((query) => query.trim()))).toHaveLength(200);
    const prompt = await expectOnlyText(context, { tool: "search", name: "query", queries: hostileQueries });
    expectTemplate(prompt, "search-prompt");
  },
);

const everyTwelfth = (canary: string): string[] => hostileQueries(canary).filter((_, at) => at % 12 === 4);

test("hostile questions are text in deep_search too (C2, G9, T1)", async (context) => {
  const prompt = await expectOnlyText(context, { tool: "deep_search", name: "query", queries: everyTwelfth });
  expectTemplate(prompt, "deep-search-prompt");
});

test("hostile topics are text in deep_research too (C2, G9, T1)", async (context) => {
  const prompt = await expectOnlyText(context, { tool: "deep_research", name: "topic", queries: everyTwelfth });
  expectTemplate(prompt, "research-prompt");
});

test("hostile topics are text in the user's own prompt too (B9, G9, T1)", async (context) => {
  const env = { GEMINI_SYSTEM_PROMPT: "Research {topic} for me, {depth}, with {model}." };
  const trial = { tool: "deep_research", name: "topic", queries: everyTwelfth, env };
  const prompt = await expectOnlyText(context, trial);
  expect(prompt).toMatch(/^Research What is new in heat pumps for me, detailed, with auto\.\n/);
});
