/** The CLI backend with the real Gemini CLI, connected to the simulator. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text as readBody } from "node:stream/consumers";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { startSimulator, type Simulator } from "../../../simulator/server.ts";
import { fillPrompt } from "../../../test/kit/simulator/prompts.ts";
import { type AskRequest, PaidFailure } from "../search-backend.ts";
import { createCliBackend, type CliBackendOptions } from "./backend.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";
import { createTestLog } from "../../../test/kit/log.ts";

const ROOT = join(import.meta.dirname, "../../..");

let simulator: Simulator;
let folder: string;
let logged: string[];

beforeEach(async () => {
  simulator = await startSimulator();
  folder = mkdtempSync(join(tmpdir(), "cli-real-"));
  logged = [];
});

afterEach(async () => {
  await simulator.close();
  rmSync(folder, { recursive: true, force: true });
});

function backend(more: Partial<CliBackendOptions> = {}) {
  const { environment, ...rest } = more;
  return createCliBackend({
    environment: {
      // The CLI's first line runs `env node`.
      PATH: [join(ROOT, "node_modules/.bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
      HOME: folder,
      GOOGLE_GEMINI_BASE_URL: simulator.url,
      ...environment,
    },
    home: join(folder, "config", "gemini-cli"),
    systemPromptFile: join(ROOT, "prompts/cli-system-prompt.md"),
    timeoutMs: 50_000,
    progressLogIntervalMs: 60_000,
    apiKey: "simulated-key",
    vertex: false,
    firecrawl: {},
    userHome: folder,
    log: createTestLog((line) => logged.push(line)),
    redact: (text) => text,
    slots: { take: () => Promise.resolve(() => {}) },
    ...rest,
  });
}

const question = (more: Partial<AskRequest> = {}): AskRequest => ({
  prompt: fillPrompt("search", { query: "How old is the café?" }),
  purpose: "research",
  model: "gemini-3.8-flash",
  signal: new AbortController().signal,
  onActivity: () => {},
  ...more,
});

const requests = () => simulator.ledger.entries().map(({ kind, model, tools }) => ({ kind, model, tools }));

test("a search is three lean requests, and returns the real sources (C4)", async () => {
  const activities: string[] = [];
  const answer = await backend().ask(question({ onActivity: (activity) => activities.push(activity) }));
  const tools = ["web_fetch", "google_web_search"];
  expect(requests()).toEqual([
    { kind: "search", model: "gemini-3.8-flash", tools },
    { kind: "web_search", model: expect.any(String), tools: ["googleSearch"] },
    { kind: "search", model: "gemini-3.8-flash", tools },
  ]);
  expect(answer).toMatchObject({ backend: "cli", cut: false, model: "gemini-3.8-flash" });
  expect(answer.queries).toEqual([expect.stringContaining("How old is the café")]);
  expect(answer.sources.map(({ url }) => url)).toEqual([
    ...new Set(answer.text.match(/https:\/\/vertexaisearch[^\\\s)"]+/g)),
  ]);
  expect(answer.usage).toMatchObject({ searches: 1, input: expect.any(Number), output: expect.any(Number) });
  expect(answer.usage.input).toBeGreaterThan(0);
  expect(activities).toEqual([`Searching: ${answer.queries[0]}`]);
  expect(readdirSync(join(folder, "config/gemini-cli/calls"))).toEqual([]);
});

test.each(["flash", "gemini-3.5-flash", undefined])("the search tool is grounded with the model %s", async (model) => {
  const answer = await backend().ask(question({ model }));
  expect(requests().filter(({ kind }) => kind === "web_search")).toEqual([
    { kind: "web_search", model: expect.any(String), tools: ["googleSearch"] },
  ]);
  expect(answer.sources).not.toEqual([]);
});

/** A proxy between the CLI and the simulator that records all requests. */
async function startRecordingProxy(): Promise<{ url: string; sent: string[] }> {
  const sent: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    sent.push(`${request.url}\n${body}`);
    const key = String(request.headers["x-goog-api-key"]);
    const headers = { "content-type": "application/json", "x-goog-api-key": key };
    const reply = await fetch(new URL(request.url ?? "/", simulator.url), { method: "POST", headers, body });
    response
      .writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "" })
      .end(await reply.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, sent };
}

test("no file, .env, memory or tool server from outside our home is used (T3, T4)", async () => {
  const config = join(folder, "config");
  for (const directory of [folder, config, join(config, "gemini-cli"), join(config, "gemini-cli", "calls")]) {
    mkdirSync(join(directory, ".gemini"), { recursive: true });
    writeFileSync(join(directory, ".gemini/.env"), "GEMINI_MODEL=trap-model\n");
    writeFileSync(join(directory, ".env"), "GEMINI_MODEL=trap-model\n");
    writeFileSync(join(directory, "GEMINI.md"), "CANARY");
    writeFileSync(join(directory, "secret.txt"), "CANARY");
  }
  // The CLI searches for memory files up to the root of a repository, and config directories are often part of one.
  mkdirSync(join(folder, ".git"));
  const trap = { command: "touch", args: [join(folder, "trapped")], trust: true };
  writeFileSync(join(config, "gemini-cli/.gemini/settings.json"), JSON.stringify({ mcpServers: { trap } }));
  const { url, sent } = await startRecordingProxy();
  const prompt = `@../../secret.txt @${join(folder, "secret.txt")} bob@../secret.txt`;
  await backend({ environment: { GOOGLE_GEMINI_BASE_URL: url } }).ask(question({ prompt, model: undefined }));
  expect(sent.join("\n")).toContain("bob\\\\@../secret.txt");
  expect(sent.join("\n")).not.toMatch(/CANARY|trap-model/);
  expect(readdirSync(folder)).not.toContain("trapped");
});

test("a correction has one tool and uses none (E2)", async () => {
  const prompt = fillPrompt("correction", {});
  await backend({ firecrawl: { apiKey: "x" } }).ask(question({ prompt, purpose: "correction" }));
  expect(requests().map(({ tools }) => tools)).toEqual([["google_web_search"]]);
});

/** A PATH on which `npx` is this script, or missing. */
function pathWithNpx(script: string | undefined): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const path = [bin, join(ROOT, "node_modules/.bin"), dirname(process.execPath)];
  if (script === undefined) return path.join(":");
  writeFileSync(join(bin, "npx"), script, { mode: 0o755 });
  return [...path, "/usr/bin", "/bin"].join(":");
}

test("a Firecrawl that exits at once never fails a search (B8)", async () => {
  const environment = { PATH: pathWithNpx("#!/bin/sh\nexit 1\n") };
  const answer = await backend({ firecrawl: { apiKey: "x" }, environment }).ask(question());
  expect(answer.text).toContain('"success": true');
});

test("a key that Google refuses is a sign-in error, in our words (B11)", async () => {
  simulator.setScenario({ name: "refused", refuses: "key-invalid" });
  const error = await backend()
    .ask(question())
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "EXECUTION_ERROR", reason: "auth", retryable: false });
  // No model has answered.
  expect(error).not.toBeInstanceOf(PaidFailure);
});

test("no sign-in at all is a sign-in error too, and nothing is sent (B11)", async () => {
  await expect(
    backend({ apiKey: undefined, environment: { GOOGLE_GEMINI_BASE_URL: undefined } }).ask(question()),
  ).rejects.toMatchObject({ reason: "auth" });
  expect(simulator.ledger.count()).toBe(0);
});

test("a model that does not exist is a configuration error (C8)", async () => {
  simulator.setScenario({ name: "no such model", tasks: { search: [{ fault: "http-404" }] } });
  const asked = backend().ask(question());
  await expect(asked).rejects.toMatchObject({ reason: "config", retryable: false });
  await expect(asked).rejects.not.toBeInstanceOf(PaidFailure);
});

test("a request that hangs is stopped on abort, and nothing is left (C5)", async () => {
  simulator.setScenario({ name: "hangs", tasks: { search: [{ fault: "hang" }] } });
  const controller = new AbortController();
  const call = backend()
    .ask(question({ signal: controller.signal }))
    .catch((error: unknown) => error);
  await waitFor(() => expect(simulator.ledger.count("search")).toBe(1));
  controller.abort();
  expect(await call).toMatchObject({ code: "CANCELLED" });
  expect(simulator.ledger.entries()[0]).toMatchObject({ outcome: "aborted" });
  expect(readdirSync(join(folder, "config/gemini-cli/calls"))).toEqual([]);
});

test("the real CLI accepts every setting of ours (C4)", async () => {
  // A failed call logs its stderr at debug level.
  simulator.setScenario({ name: "refused", refuses: "key-invalid" });
  const environment = { PATH: pathWithNpx("#!/bin/sh\nexit 1\n") };
  const call = backend({ firecrawl: { apiKey: "x", apiUrl: "http://127.0.0.1:1" }, environment }).ask(question());
  await expect(call).rejects.toThrow();
  expect(logged.join("")).toContain("[DEBUG] Last stderr output of the Gemini CLI");
  expect(logged.join("")).toContain("MCP issues detected");
  expect(logged.join("")).not.toMatch(/Invalid configuration|deprecated/i);
});
