/** The real Gemini CLI with the simulator: a search round works, and its session file contains the sources. */

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { startSimulator, type Simulator } from "../server.ts";
import { fillPrompt } from "../../test/kit/simulator/prompts.ts";

const CLI = join(import.meta.dirname, "../../node_modules/@google/gemini-cli/bundle/gemini.js");
const SYSTEM_PROMPT = join(import.meta.dirname, "../../prompts/cli-system-prompt.md");
const REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/";

const DEFAULTS = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
};

const LEAN = {
  ...DEFAULTS,
  tools: { core: ["google_web_search", "web_fetch"] },
  general: { plan: { enabled: false }, topicUpdateNarration: false },
  experimental: { enableAgents: false },
  skills: { enabled: false },
};

let simulator: Simulator;
let home: string;

beforeEach(async () => {
  simulator = await startSimulator();
  home = await mkdtemp(join(tmpdir(), "simulator-cli-"));
});

afterEach(async () => {
  await simulator.close();
  await rm(home, { recursive: true, force: true });
});

interface CliRun {
  settings: object;
  prompt: string;
  args?: string[];
  env?: Record<string, string>;
}

interface StreamEvent {
  type: string;
  role?: string;
  content?: string;
  status?: string;
  tool_name?: string;
}

async function runCli({ settings, prompt, args = [], env = {} }: CliRun): Promise<StreamEvent[]> {
  const cwd = join(home, "empty");
  await mkdir(join(home, ".gemini"), { recursive: true });
  await mkdir(cwd);
  await writeFile(join(home, ".gemini/settings.json"), JSON.stringify(settings));
  const child = spawn(process.execPath, [CLI, "--output-format", "stream-json", ...args], {
    cwd,
    env: {
      HOME: home,
      // The CLI leaves error reports in the temporary folder.
      TMPDIR: home,
      GEMINI_CLI_HOME: home,
      GEMINI_API_KEY: "test-key",
      GOOGLE_GEMINI_BASE_URL: simulator.url,
      GEMINI_CLI_NO_RELAUNCH: "true",
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.end(prompt);
  const [output] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

/** Search results from the CLI's session file, the only place that contains them. */
async function searchOutputs(): Promise<string[]> {
  const chats = join(home, ".gemini/tmp/empty/chats");
  const [file = ""] = await readdir(chats);
  const lines = (await readFile(join(chats, file), "utf8")).trim().split("\n");
  return lines.flatMap((line) => sessionLine.parse(JSON.parse(line)).toolCalls).flatMap(outputsOf);
}

const toolCall = z.object({
  result: z.array(z.object({ functionResponse: z.object({ response: z.object({ output: z.string() }) }) })),
});

const sessionLine = z.object({ toolCalls: z.array(toolCall).default([]) });

const outputsOf = ({ result }: z.output<typeof toolCall>): string[] =>
  result.map(({ functionResponse }) => functionResponse.response.output);

const answerIn = (events: StreamEvent[]): string =>
  events.flatMap((event) => (event.role === "assistant" ? (event.content ?? "") : [])).join("");

const linksIn = (answer: string): Set<string> => new Set(answer.match(/https:[^\\\s)"]+/g));

const QUESTION = "How old is the café? Ask bob@cafe.example";
const ESCAPED = QUESTION.replaceAll("@", "\\@");

test("a CLI with default settings routes, searches and answers from its search results", async () => {
  const events = await runCli({
    settings: DEFAULTS,
    prompt: fillPrompt("search", { query: ESCAPED }),
  });

  expect(events.at(-1)).toMatchObject({ type: "result", status: "success" });
  expect(simulator.ledger.countByKind()).toEqual({ json_schema: 1, search: 2, web_search: 1 });
  expect(simulator.ledger.exchanges("search")).toBe(1);
  expect(simulator.ledger.entries()[1]).toMatchObject({ question: QUESTION, turn: "opening" });
  expect(answerIn(events)).toMatch(/^```json\n/);
  expect(answerIn(events)).toContain(REDIRECT);
  const [output = ""] = await searchOutputs();
  expect(output).toMatch(/^Web search results for "How old is the café\?.*":\n\n- .*\[1\]\n/);
  expect(output).toMatch(/\n\nSources:\n\[1\] \S+ \(https:/);
  expect(linksIn(output)).toEqual(linksIn(answerIn(events)));
});

test("a CLI with lean settings makes the five searches of a deep search with under 20 KB of requests", async () => {
  const events = await runCli({
    settings: LEAN,
    prompt: fillPrompt("deep-search", { query: ESCAPED }),
    args: ["--model", "gemini-3.8-flash"],
    env: { GEMINI_SYSTEM_MD: SYSTEM_PROMPT },
  });

  expect(simulator.ledger.countByKind()).toEqual({ deep_search: 2, web_search: 5 });
  expect(simulator.ledger.totalBytes()).toBeLessThan(20_000);
  expect(events.filter((event) => event.type === "tool_use")).toHaveLength(5);
  const links = linksIn(answerIn(events));
  expect(links.size).toBe(15);
  const outputs = await searchOutputs();
  expect(outputs).toHaveLength(5);
  expect(linksIn(outputs.join("\n"))).toEqual(links);
});

test("a model that opens pages takes a third turn, even if the CLI cannot reach them", async () => {
  simulator.setScenario({ name: "opens", open_pages: true });
  const events = await runCli({
    settings: LEAN,
    prompt: fillPrompt("search", { query: ESCAPED }),
    args: ["--model", "gemini-3.8-flash"],
    env: { GEMINI_SYSTEM_MD: SYSTEM_PROMPT },
  });

  // The CLI resolves a host before requesting a page, so offline no page is requested.
  expect(simulator.ledger.count("search")).toBe(3);
  const names = events.flatMap((event) => event.tool_name ?? []);
  expect(names).toEqual(["google_web_search", "web_fetch"]);
  expect(answerIn(events)).toContain(REDIRECT);
});
