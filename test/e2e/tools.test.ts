/** What a client sees before its first call: tools, schemas, names, and a stdout with the protocol only. */

import { execFile, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Tool } from "@modelcontextprotocol/client";
import { describe, expect, test, type TestContext } from "vitest";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { MARKS } from "../../scripts/announced-tools.ts";
import { TOOL_NAMES } from "../../src/config/tool-names.ts";
import { parseToolSet, toolSet } from "../../src/config/tool-sets.ts";
import { OPERATIONS } from "../../src/operations/catalog.ts";
import { openScene, type Scene } from "../kit/server/scene.ts";
import { BIN, type Era, ROOT, startServer, TEST_KEY, temporaryDirectory } from "../kit/server/server.ts";

const ERAS: Era[] = ["legacy", "modern"];
/** The default set, `research`. */
const NAMES = [
  "search",
  "deep_search",
  "estimate_research_cost",
  "start_deep_research",
  "check_research_status",
  "get_research_results",
  "verify_citations",
  "ask_followup",
  "save_research_to_markdown",
  "cancel_research",
  "resume_research",
  "list_research",
  "deep_research",
];
const CORE = ["search", "deep_search", "start_deep_research", "check_research_status", "get_research_results"];
/** Every session of every client pays for the list. References to the run card, which no model sees, are a fortieth. */
const MAX_BYTES = 19 * 1024;
/** Those that return reports, which a client must not cut. */
const REPORTING = [
  "search",
  "deep_search",
  "start_deep_research",
  "get_research_results",
  "ask_followup",
  "deep_research",
];
/** Of what a model sees of the default set (U4). */
const MAX_TOKENS = 2_500;
const MAX_LEGACY_TOKENS = 60;
const MAX_INSTRUCTION_CHARACTERS = 1_000;

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

const NUMBERS: unknown[] = ["integer", "number"];

const isUnbounded = (schema: Schema): boolean =>
  NUMBERS.includes(schema["type"]) && !("minimum" in schema && "maximum" in schema);

const isDescribed = (schema: unknown): boolean =>
  isSchema(schema) && typeof schema["description"] === "string" && schema["description"].length > 10;

/** What a client or a model could stumble over in a tool's schemas. */
function schemaFaults({ name, inputSchema, outputSchema = {} }: Tool): string[] {
  const { type, required } = outputSchema;
  const bare = Object.entries(inputSchema.properties ?? {}).filter(([, schema]) => !isDescribed(schema));
  const unions = [...schemasIn(inputSchema), ...schemasIn(outputSchema)].filter(isUnion);
  return [
    ...bare.map(([parameter]) => `${name}: ${parameter} is not described`),
    ...schemasIn(inputSchema)
      .filter(isUnbounded)
      .map((schema) => `${name}: a number without bounds, ${JSON.stringify(schema)}`),
    ...unions.map((schema) => `${name}: a union, ${JSON.stringify(schema)}`),
    ...(type === "object" ? [] : [`${name}: the output is no object`]),
    ...(JSON.stringify(required) === '["success"]' ? [] : [`${name}: the output requires ${JSON.stringify(required)}`]),
  ];
}

describe.each(ERAS)("a %s client", (era) => {
  test("lists the tools in the order of the catalogue (A1)", async (context) => {
    expect((await listTools(context, era)).map((tool) => tool.name)).toEqual(NAMES);
  });

  test("gets name and version of package.json (A4)", async ({ onTestFinished }) => {
    const server = await startServer({ era });
    onTestFinished(() => server.close());
    const { name, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(server.client.getServerVersion()).toMatchObject({ name, version });
  });

  test("finds every parameter described and no union in a schema (A5)", async (context) => {
    expect((await listTools(context, era)).flatMap(schemaFaults)).toEqual([]);
  });
});

test("titles, descriptions and hints that a model chooses by are exactly these (A5)", async (context) => {
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
          "title": "Search",
        },
        "description": "Answers a question from the web in one round: Gemini searches, reads pages and writes a short report. For facts, news, documentation, prices. Where sources conflict or errors are costly: deep_search. Takes seconds, costs about a cent. Returns the report (Markdown) and its sources.",
        "name": "search",
        "title": "Search",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": true,
          "title": "Deep search",
        },
        "description": "Costs a few cents per round and takes 1 to 10 minutes: researches in rounds, first from five perspectives, then checks and corrects until the result is confirmed. For conflicting sources or when being wrong is costly; for look-ups use search, for a broad report start_deep_research. Returns the report (Markdown), whether verified, and its sources.",
        "name": "deep_search",
        "title": "Deep search",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": true,
          "openWorldHint": false,
          "readOnlyHint": true,
          "title": "Estimate research cost",
        },
        "description": "Estimates minutes and US dollars of start_deep_research for a question, from published figures and your own finished runs. For a start whose price matters, or to choose the agent; search and deep_search cost cents. Free, instant, local. Returns ranges and a recommendation.",
        "name": "estimate_research_cost",
        "title": "Estimate research cost",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": false,
          "title": "Deep research",
        },
        "description": "Costs about $1 to $11 and takes 5 to 60 minutes: starts Google's Deep Research agent, which writes a long report with citations. For broad or difficult questions; for look-ups: search; to verify one answer: deep_search. Returns a task_id within 30 s. As an MCP task the report arrives on its own; otherwise call check_research_status with wait_seconds 45 until completed, then get_research_results. The same start within 10 minutes joins the first.",
        "name": "start_deep_research",
        "title": "Deep research",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": true,
          "openWorldHint": false,
          "readOnlyHint": true,
          "title": "Check research status",
        },
        "description": "Deep research status: progress, current action, time and cost of a run, whether it stalled. To wait, call it in a loop with wait_seconds 45 and the last cursor: it returns when the run ends, stalls or advances by a tenth. Not for the report (get_research_results). Free, local.",
        "name": "check_research_status",
        "title": "Check research status",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": true,
          "openWorldHint": false,
          "readOnlyHint": true,
          "title": "Get research results",
        },
        "description": "Deep research results: returns the stored report of a run with its sources; of a failed or cancelled run as far as it got (partial). For completed runs and lost calls. A long one comes as its beginning and an outline: read on with section. Free, local.",
        "name": "get_research_results",
        "title": "Get research results",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": true,
          "openWorldHint": true,
          "readOnlyHint": false,
          "title": "Verify citations",
        },
        "description": "Costs at most $0.05 and takes a minute: compares a report with the pages it cites. Only on the user's request; call again for the rest. Returns counts and claims not confirmed.",
        "name": "verify_citations",
        "title": "Verify citations",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": false,
          "title": "Ask a follow-up",
        },
        "description": "Costs cents and takes about a minute: asks a further question about a finished run (task_id), answered from its report and the web. Use it instead of a new research on the topic. If it is still running: check_research_status.",
        "name": "ask_followup",
        "title": "Ask a follow-up",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": false,
          "readOnlyHint": false,
          "title": "Save research to Markdown",
        },
        "description": "Saves the report of a finished run as a Markdown file with sources; a partial one is marked PARTIAL. To read it: get_research_results. Free, local, never overwrites. Returns the path.",
        "name": "save_research_to_markdown",
        "title": "Save research to Markdown",
      },
      {
        "annotations": {
          "destructiveHint": true,
          "idempotentHint": true,
          "openWorldHint": true,
          "readOnlyHint": false,
          "title": "Cancel research",
        },
        "description": "Stops a run, here and at Google, whichever client started it. For answers no longer wanted. What was found is kept; delete removes the run for good. Takes up to 5 s, free; what Google has charged stays charged.",
        "name": "cancel_research",
        "title": "Cancel research",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": false,
          "title": "Resume research",
        },
        "description": "Costs about $1 to $11 if it approves a plan or sends an unknown start again, which may be charged twice; cents if it changes a plan or continues an interrupted deep_search; nothing if it polls a failed deep research or adopts the interaction_id of an unknown start. Not for runs in progress or completed.",
        "name": "resume_research",
        "title": "Resume research",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": true,
          "openWorldHint": false,
          "readOnlyHint": true,
          "title": "List research runs",
        },
        "description": "Lists stored runs with question, status and cost, newest first, or those with the words of text, best first. To find a task_id, for example of a lost call. Free, instant, local.",
        "name": "list_research",
        "title": "List research runs",
      },
      {
        "annotations": {
          "destructiveHint": false,
          "idempotentHint": false,
          "openWorldHint": true,
          "readOnlyHint": true,
          "title": "Quick report",
        },
        "description": "Prefer search.",
        "name": "deep_research",
        "title": "Quick report",
      },
    ]
  `);
});

test("tools that act on the web at a price begin with it: approval dialogs cut what follows (A5)", async ({
  onTestFinished,
}) => {
  const server = await startServer({ env: { GEMINI_SEARCH_TOOLS: "all" } });
  onTestFinished(() => server.close());
  const { tools } = await server.client.listTools();
  const paid = tools.filter(
    ({ annotations }) =>
      annotations?.openWorldHint === true && !annotations.readOnlyHint && !annotations.destructiveHint,
  );
  expect(paid.filter(({ description }) => description?.startsWith("Costs ") !== true)).toEqual([]);
  expect(paid.map(({ name }) => name)).toContain("schedule_research");
});

test.for(ERAS)("the list is smaller than 19 KB and 2,500 tokens: %s (A5, U4)", async (era, context) => {
  const tools = await listTools(context, era);
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  const shown = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const tokens = countTokens(JSON.stringify(shown));
  const legacy = shown.find(({ name }) => name === "deep_research");
  expect(countTokens(JSON.stringify(legacy))).toBeLessThanOrEqual(MAX_LEGACY_TOKENS);
  process.stdout.write(`tools/list: ${bytes} bytes, ${tokens} tokens (o200k) for ${NAMES.length} tools\n`);
  expect(bytes).toBeLessThan(MAX_BYTES);
  expect(tokens).toBeLessThanOrEqual(MAX_TOKENS);
});

test("sets and names of tools can be combined, in the order of the catalogue (U5)", () => {
  expect(toolSet("all").listed).toEqual(TOOL_NAMES);
  expect(toolSet(" list_research, Core ").listed).toEqual([...CORE, "list_research"]);
  expect(["", ",", "core,toString", "deep"].filter((value) => parseToolSet(value) !== undefined)).toEqual([]);
});

test.for(["core", "research"])(
  "the instructions and prompts for %s name its tools only (U4, U5)",
  async (set, { onTestFinished }) => {
    const server = await startServer({ env: { GEMINI_SEARCH_TOOLS: set } });
    onTestFinished(() => server.close());
    const { tools: offered } = await server.client.listTools();
    const tools: string[] = offered.map(({ name }) => name);
    expect(tools).toEqual(set === "core" ? CORE : NAMES);
    // A plan can be approved only with resume_research.
    const start = offered.find(({ name }) => name === "start_deep_research")?.inputSchema.properties ?? {};
    expect("plan" in start).toBe(set === "research");
    const instructions = server.client.getInstructions() ?? "";
    expect(instructions.length).toBeLessThanOrEqual(MAX_INSTRUCTION_CHARACTERS);
    for (const name of CORE) expect(instructions).toContain(name);
    // All that Codex shows its model.
    expect(instructions.split("\n")[0]).toMatch(/^Web research .*\.$/);
    const { prompts } = await server.client.listPrompts();
    expect(prompts.length).toBe(set === "core" ? 2 : 3);
    const { messages } = await server.client.getPrompt({ name: "fact_check", arguments: { text: "The moon is new." } });
    const mentioned = [instructions, JSON.stringify(messages)].flatMap(
      (text) => text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [],
    );
    expect(mentioned.filter((word) => TOOL_NAMES.some((name) => name === word) && !tools.includes(word))).toEqual([]);
  },
);

test("an unknown tool in GEMINI_SEARCH_TOOLS is named with the choices, and the default is used (U5, B1)", async ({
  onTestFinished,
}) => {
  const server = await startServer({ env: { GEMINI_SEARCH_TOOLS: "core,serach" } });
  onTestFinished(() => server.close());
  expect((await server.client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
  expect(server.stderr()).toContain(
    'GEMINI_SEARCH_TOOLS has an invalid value; the default ("research") is used instead. Choose core, research, all, or tool names separated by commas: search, deep_search,',
  );
});

test("every field of an answer is in the output schema but a few common ones, and report tools are marked (A5)", async (context) => {
  const tools = await listTools(context, "modern");
  const fields = tools.map(({ outputSchema }) => Object.keys(outputSchema?.["properties"] ?? {}));
  const isAnnounced = (field: string): boolean => !MARKS.includes(field);
  const listed = OPERATIONS.filter(({ name }) => NAMES.includes(name));
  expect(fields).toEqual(listed.map(({ output }) => Object.keys(output.shape).filter(isAnnounced)));
  expect(
    tools.filter((tool) => tool._meta?.["anthropic/maxResultSizeChars"] !== undefined).map(({ name }) => name),
  ).toEqual(REPORTING);
  expect(JSON.stringify(tools)).not.toMatch(/\$schema|"additionalProperties":\{/);
  // Claude Code shows the title of the annotations, and has the first tool at hand without a request for it.
  for (const { title, annotations } of tools) expect(annotations?.title).toBe(title);
  expect(tools.filter(({ _meta: meta }) => meta?.["anthropic/alwaysLoad"] === true).map(({ name }) => name)).toEqual([
    "search",
  ]);
});

const INSPECTOR = join(ROOT, "node_modules/.bin/mcp-inspector");

/** The official inspector as a second, independent client. It rejects when its exit code is not 0. */
async function inspect(scene: Scene, era: Era, method: string[]): Promise<{ answer: unknown; stderr: string }> {
  const settings = Object.entries(scene.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const target = [process.execPath, BIN, ...settings];
  const args = [INSPECTOR, "--cli", ...target, "--protocol-era", era, "--format", "json", "--method", ...method];
  const options = { env: scene.env, cwd: scene.configDir };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
  return { answer: JSON.parse(stdout), stderr };
}

describe.each(ERAS)("the MCP Inspector, %s", (era) => {
  test("finds no fault in the portability of the schemas (A5)", async (context) => {
    const { answer, stderr } = await inspect(await openScene(context), era, ["tools/list", "--strict"]);
    expect(answer).toMatchObject({ result: { tools: NAMES.map((name) => ({ name })) } });
    expect(answer).not.toHaveProperty("schemaFindings");
    expect(stderr).not.toMatch(/warning|error|issue/i);
  });

  test("calls a tool (A1)", async (context) => {
    const scene = await openScene(context);
    const args = JSON.stringify({ query: "What is a heat pump?" });
    const { answer } = await inspect(scene, era, ["tools/call", "--tool-name", "search", "--tool-args-json", args]);
    expect(answer).toMatchObject({ result: { structuredContent: { success: true } } });
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

test.for([{}, DEBUGGING])("stdout carries JSON-RPC and nothing else, stderr our log: %j (A2)", async (env, context) => {
  // Repaired answers are logged at debug level only.
  const scene = await openScene(context, { name: "repaired", tasks: { search: [{ answer: "trailing-comma" }] } });
  const { lines, stderr } = await rawLines(scene, env);
  const messages = lines.map((line): unknown => JSON.parse(line));
  expect(messages).toMatchObject([0, 1, 2].map((id) => ({ jsonrpc: "2.0", id, result: {} })));
  expect(messages[2]).toMatchObject({ result: { structuredContent: { success: true } } });
  for (const line of stderr.trimEnd().split("\n")) expect(line).toMatch(/^(?:\[(?:DEBUG|INFO|WARN|ERROR)\] |  )|^$/);
  expect(stderr.includes("[DEBUG]")).toBe("DEBUG" in env);
  expect(stderr + lines.join("\n")).not.toContain(TEST_KEY);
});

test("starts and lists without the CLI, a key or a network, and says what to install (A3)", async ({
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
