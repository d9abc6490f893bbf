/** What a client sees before it asks anything: tools, schemas, names, and a stdout that carries the protocol only. */

import { execFile, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Tool } from "@modelcontextprotocol/client";
import { describe, expect, test, type TestContext } from "vitest";
import { openScene, type Scene } from "../support/scene.ts";
import { BIN, type Era, ROOT, startServer, TEST_KEY, temporaryDirectory } from "../support/server.ts";

const ERAS: Era[] = ["legacy", "modern"];
const NAMES = ["search", "deep_search", "deep_research", "get_research_results", "list_research"];
/** Every session of every client pays for the list; most of it is output schemas. */
const MOST_BYTES_PER_TOOL = 3_500;

async function listTools({ onTestFinished }: TestContext, era: Era): Promise<Tool[]> {
  const server = await startServer({ era });
  onTestFinished(() => server.close());
  return (await server.client.listTools()).tools;
}

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;

/** The schema and every schema inside it. */
function schemasIn(schema: unknown): Schema[] {
  return isSchema(schema) ? [schema, ...Object.values(schema).flatMap(schemasIn)] : [];
}

const isUnion = (schema: Schema): boolean =>
  "anyOf" in schema || "oneOf" in schema || Array.isArray(schema["type"]) || hasOtherThanTexts(schema["enum"]);

const hasOtherThanTexts = (values: unknown): boolean =>
  Array.isArray(values) && values.some((value) => typeof value !== "string");

const isDescribed = (schema: unknown): boolean =>
  isSchema(schema) && typeof schema["description"] === "string" && schema["description"].length > 10;

/** What a client or a model could stumble over in a tool's schemas. */
function schemaFaults({ name, inputSchema, outputSchema = {} }: Tool): string[] {
  const { type, required } = outputSchema;
  const bare = Object.entries(inputSchema.properties ?? {}).filter(([, schema]) => !isDescribed(schema));
  const unions = [...schemasIn(inputSchema), ...schemasIn(outputSchema)].filter(isUnion);
  return [
    ...bare.map(([parameter]) => `${name}: ${parameter} is not described`),
    ...unions.map((schema) => `${name}: a union, ${JSON.stringify(schema)}`),
    ...(type === "object" ? [] : [`${name}: the output is no object`]),
    ...(JSON.stringify(required) === '["success"]' ? [] : [`${name}: the output requires ${JSON.stringify(required)}`]),
  ];
}

describe.each(ERAS)("a %s client", (era) => {
  test("A1 lists the tools in the order of the catalogue", async (context) => {
    expect((await listTools(context, era)).map((tool) => tool.name)).toEqual(NAMES);
  });

  test("A4 gets name and version from package.json", async ({ onTestFinished }) => {
    const server = await startServer({ era });
    onTestFinished(() => server.close());
    const { name, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(server.client.getServerVersion()).toMatchObject({ name, version });
  });

  test("A5 finds every parameter described and no union in a schema", async (context) => {
    expect((await listTools(context, era)).flatMap(schemaFaults)).toEqual([]);
  });
});

test("A5 texts and hints that a model chooses by", async (context) => {
  const tools = await listTools(context, "modern");
  const shown = tools.map(({ name, title, description, annotations }) => ({ name, title, description, annotations }));
  expect(shown).toMatchInlineSnapshot(`
    [
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": true,
        },
        "description": "Answers a question from the web in one round: Gemini searches, opens promising pages and writes a short report with the addresses it visited. Use it for facts, news, documentation, prices: anything one good search can settle. Not for questions where sources conflict or a mistake is costly (deep_search checks its result in several rounds). Takes seconds, costs about a cent. Returns the report as Markdown and its sources.",
        "name": "search",
        "title": "Web search",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": true,
        },
        "description": "Researches a question on the web in 2 to 5 rounds: five perspectives first, then rounds that verify and correct the result until it is confirmed. Use it when sources may conflict, when the answer needs several angles, or when being wrong is costly. Not for simple look-ups (use search). Takes one to ten minutes, costs a few cents per round; every finished round is stored, so nothing is lost if the call is interrupted (get_research_results). Returns the report as Markdown, whether it was verified, and the sources of every round.",
        "name": "deep_search",
        "title": "Checked web research",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": true,
        },
        "description": "Writes a report on a topic in one unchecked round. Kept for configurations made for older versions: prefer deep_search, which verifies its result, or search for a quick answer. Takes seconds to a few minutes, costs a few cents. Returns the report as Markdown and its sources.",
        "name": "deep_research",
        "title": "Research report (older tool)",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": true,
          "openWorldHint": false,
          "readOnlyHint": true,
        },
        "description": "Returns the stored report of a run by its task_id: of a finished one, or as far as it came (partial) of one that failed, was interrupted or cancelled. Use it when a call was lost or to read an earlier answer again; list_research finds the task_id. Reads the local database only: free, instant, no key needed. Returns report, numbered sources and figures.",
        "name": "get_research_results",
        "title": "Get research results",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": true,
          "openWorldHint": false,
          "readOnlyHint": true,
        },
        "description": "Lists stored runs of every kind, newest first: searches, deep searches and research, finished or not. Use it to find a task_id again, for example after a call was interrupted; get_research_results then returns the report. Reads the local database only: free, instant, no key needed.",
        "name": "list_research",
        "title": "List research runs",
      },
    ]
  `);
});

test("A5 the list is small enough to carry in every session", async (context) => {
  const bytes = Buffer.byteLength(JSON.stringify(await listTools(context, "modern")));
  process.stdout.write(`tools/list: ${bytes} bytes for ${NAMES.length} tools\n`);
  expect(bytes).toBeLessThan(MOST_BYTES_PER_TOOL * NAMES.length);
});

const INSPECTOR = join(ROOT, "node_modules/.bin/mcp-inspector");

/** The official inspector as a second, independent client. It rejects when its exit code is not 0. */
async function inspect(scene: Scene, era: Era, method: string[]): Promise<unknown> {
  const settings = Object.entries(scene.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const target = [process.execPath, BIN, ...settings];
  const args = [INSPECTOR, "--cli", ...target, "--protocol-era", era, "--format", "json", "-q", "--method", ...method];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: scene.env, cwd: scene.configDir });
  return JSON.parse(stdout);
}

describe.each(ERAS)("the MCP Inspector, %s", (era) => {
  test("A5 has no portability error to report", async (context) => {
    const listed = await inspect(await openScene(context), era, ["tools/list", "--strict"]);
    expect(listed).toMatchObject({ result: { tools: NAMES.map((name) => ({ name })) } });
  });

  test("A1 calls a tool", async (context) => {
    const scene = await openScene(context);
    const args = JSON.stringify({ query: "What is a heat pump?" });
    const called = await inspect(scene, era, ["tools/call", "--tool-name", "search", "--tool-args-json", args]);
    expect(called).toMatchObject({ result: { structuredContent: { success: true } } });
    expect(scene.gemini.ledger.countByKind()).toEqual({ search: 1 });
  });
});

const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const SEARCH = { method: "tools/call", params: { name: "search", arguments: { query: "What is a heat pump?" } } };

/** Speaks JSON-RPC by hand, one request after the other, and keeps every line of stdout. */
async function rawLines(scene: Scene, env: Record<string, string>): Promise<{ lines: string[]; stderr: string }> {
  const child = spawn(process.execPath, [BIN], { env: { ...scene.env, ...env } });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const lines: string[] = [];
  const requests = [INITIALIZE, { method: "tools/list" }, SEARCH];
  const send = (): void => {
    const request = requests[lines.length];
    if (request === undefined) child.stdin.end();
    else child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: lines.length, ...request })}\n`);
  };
  send();
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    send();
  }
  return { lines, stderr };
}

const DEBUGGING = { DEBUG: "true", GOOGLE_GENAI_DEBUG: "1" };

test.for([{}, DEBUGGING])("A2 stdout carries JSON-RPC and nothing else, stderr our log: %j", async (env, context) => {
  // A repaired answer is something that only the debug log tells.
  const scene = await openScene(context, { name: "repaired", tasks: { search: [{ answer: "trailing-comma" }] } });
  const { lines, stderr } = await rawLines(scene, env);
  const messages = lines.map((line): unknown => JSON.parse(line));
  expect(messages).toMatchObject([0, 1, 2].map((id) => ({ jsonrpc: "2.0", id, result: {} })));
  expect(messages[2]).toMatchObject({ result: { structuredContent: { success: true } } });
  for (const line of stderr.trimEnd().split("\n")) expect(line).toMatch(/^(?:\[(?:DEBUG|INFO|WARN|ERROR)\] |  )|^$/);
  expect(stderr.includes("[DEBUG]")).toBe("DEBUG" in env);
  expect(stderr + lines.join("\n")).not.toContain(TEST_KEY);
});

test("A3 starts and lists without the CLI, a key or a network, and says what to install", async ({
  onTestFinished,
}) => {
  const empty = temporaryDirectory();
  onTestFinished(() => rmSync(empty, { recursive: true }));
  const nowhere = "http://127.0.0.1:9";
  const server = await startServer({ env: { PATH: empty, HTTPS_PROXY: nowhere, HTTP_PROXY: nowhere } });
  onTestFinished(() => server.close());
  expect((await server.client.listTools()).tools).toHaveLength(NAMES.length);
  expect((await server.call("list_research", {})).structured).toEqual({ success: true, runs: [] });
  for (const [tool, input] of Object.entries({
    search: { query: "What is a heat pump?" },
    deep_search: { query: "What is a heat pump?" },
    deep_research: { topic: "Heat pumps" },
  })) {
    const { isError, structured, text } = await server.call(tool, input);
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ success: false, error: { code: "CLI_NOT_FOUND" } });
    expect(JSON.stringify(structured)).toContain("npm install -g @google/gemini-cli");
    expect(text).toContain("npm install -g @google/gemini-cli");
  }
});
