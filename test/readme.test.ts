/** The README: short, for users, with commands that work today. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { taskCostText } from "../src/costs/prices.ts";
import { DEFAULT_AGENT, MAX_AGENT } from "../src/gemini/research-agent.ts";
import { documentedCommands, readDocument, ROOT } from "./kit/documents.ts";

const README = readDocument("README.md");
const CODE_BLOCK = /^```sh\n([\s\S]*?)^```$/gm;
const BLOCKS = [...README.matchAll(CODE_BLOCK)].map(([, block = ""]) => block);

test("it is read in a minute or two, and names nothing that only operators and engineers need", () => {
  expect(Buffer.byteLength(README)).toBeLessThanOrEqual(8 * 1_024);
  for (const word of ["PostgreSQL", "Prometheus", "operator", "worker", "deep_research.db", "npx"])
    expect(README).not.toContain(word);
});

test("it opens with three lines to a connected assistant, the first of which gets the repository", () => {
  const [opening = ""] = BLOCKS;
  expect(README.indexOf(opening)).toBeLessThan(700);
  expect(opening.trim().split("\n")).toHaveLength(3);
  const { repository } = z
    .object({ repository: z.object({ url: z.string() }) })
    .parse(JSON.parse(readDocument("package.json")));
  expect(opening).toContain(`git clone ${repository.url.replaceAll(/^git\+|\.git$/g, "")} `);
  const commands = documentedCommands("README.md").map(({ words }) => words.join(" "));
  expect(commands.filter((command) => !/^(?:git|cd) /.test(command)).slice(0, 4)).toEqual([
    "npm ci",
    "npm run demo",
    "npm install -g .",
    "gemini-search-mcp init",
  ]);
});

test("the commands that run the demo and the tests are in it, as they are typed (X6)", () => {
  const lines = BLOCKS.flatMap((block) => block.split("\n"));
  expect(lines.filter((line) => line.startsWith("npm ci && npm run demo "))).toHaveLength(1);
  expect(lines.filter((line) => line === "npm ci && npm test")).toHaveLength(1);
});

test("its picture is shown in a clone, too", () => {
  const pictures = [...README.matchAll(/!\[[^\]]+\]\(([^)]+\.png)\)/g)].map(([, path = ""]) => path);
  expect(pictures).toHaveLength(1);
  expect(pictures.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("a deep research and one of Max cost the same in every text, as the price list says (T28)", () => {
  const [standard, max] = [taskCostText(DEFAULT_AGENT), taskCostText(MAX_AGENT)];
  const either = standard.replace(/ .*/, max.slice(max.indexOf(" ")));
  for (const file of [
    "README.md",
    "docs/ask.md",
    "docs/assistants.md",
    "docs/commands.md",
    "docs/costs.md",
    "docs/deep-research.md",
    "skills/web-research/SKILL.md",
    "src/web/page/start/draft.ts",
  ]) {
    const text = readDocument(file);
    expect([file, text.includes(standard), text.includes(max)]).toEqual([file, true, true]);
    expect([file, text.includes(either)]).toEqual([file, false]);
  }
  for (const file of [
    "distribution/facts.json",
    "server.json",
    "src/operations/resume-research.ts",
    "src/operations/start-deep-research.ts",
  ]) {
    expect([file, readDocument(file).includes(either)]).toEqual([file, true]);
  }
});
