/** Traces and metrics as a collector receives them from the built server, and only if they are configured. */

import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test, type TestContext } from "vitest";
import { PACKAGES } from "../../src/telemetry/start.ts";
import { openCliScene } from "../kit/simulator/cli-scene.ts";
import { type ReceivedSpan, startCollector } from "../kit/services/collector.ts";
import { openHttpScene, type RunningHttpServer, startHttpServer } from "../kit/server/http-server.ts";
import { openResearch, QUERY, type ResearchScene } from "../kit/server/research.ts";
import { callTool, type Era, ROOT, temporaryDirectory, TEST_KEY, type ToolResult } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const HEADER_SECRET = "collector-secret-never-real-77";
const SOON = { interval: 50 };

/** The one span of this name. */
function only(spans: ReceivedSpan[], name: string): ReceivedSpan {
  const [span, ...more] = spans.filter((candidate) => candidate.name === name);
  if (span === undefined || more.length > 0) throw new Error(`${more.length + 1} spans are called ${name}`);
  return span;
}

type Call = (name: string, input: Record<string, unknown>) => Promise<ToolResult>;

async function serve(context: TestContext, scene: ResearchScene, env: Record<string, string>) {
  const server = await startHttpServer({ configDir: scene.configDir, env: { ...scene.env, ...env } });
  context.onTestFinished(() => server.close());
  return server;
}

/** A client inside a trace of its own. */
async function connectTraced(context: TestContext, { url, token }: RunningHttpServer, era: Era): Promise<Call> {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), {
    requestInit: { headers: { authorization: `Bearer ${token}`, traceparent: TRACEPARENT } },
  });
  const client = new Client(
    { name: "test-client", version: "1.0.0" },
    { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );
  await client.connect(transport);
  context.onTestFinished(() => client.close());
  return (name, input) => callTool(client, { name, input });
}

/** A research from its start to its report. */
async function wholeResearch(call: Call): Promise<{ taskId: string; report: string }> {
  const started = await call("start_deep_research", { query: QUERY });
  const taskId: string = started.structured["task_id"];
  await waitFor(async () => {
    const { structured } = await call("check_research_status", { task_id: taskId });
    expect(structured["status"]).toBe("completed");
  }, SOON);
  const { structured } = await call("get_research_results", { task_id: taskId });
  return { taskId, report: structured["report"] };
}

test("start, polls and results of a research are one trace from the caller to Google, with the run id", async (context) => {
  const scene = await openResearch(context);
  const collector = await startCollector(context);
  const server = await serve(context, scene, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${HEADER_SECRET}`,
    OTEL_SERVICE_NAME: "research-here",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  });
  const { taskId } = await wholeResearch(await connectTraced(context, server, "modern"));
  await server.close();

  const spans = collector.spans();
  const tool = only(spans, "tools/call start_deep_research");
  expect(tool).toMatchObject({
    traceId: TRACE,
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "start_deep_research",
      "gemini_search.run.id": taskId,
    },
  });
  const request = spans.find(({ spanId }) => spanId === tool.parentSpanId);
  expect(request).toMatchObject({ name: "POST /mcp", traceId: TRACE, parentSpanId: "b7ad6b7169203331" });
  const operation = only(spans, "start_deep_research");
  expect(operation).toMatchObject({ traceId: TRACE, parentSpanId: tool.spanId });
  const invoked = spans.filter(({ name }) => name.startsWith("invoke_agent "));
  expect(invoked).toMatchObject([
    {
      traceId: TRACE,
      parentSpanId: operation.spanId,
      attributes: {
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.request.model": "deep-research-preview-04-2026",
        "gemini_search.start.outcome": "accepted",
        "gemini_search.run.id": taskId,
      },
    },
  ]);
  expect(spans.find(({ parentSpanId }) => parentSpanId === invoked[0]?.spanId)).toMatchObject({
    name: "POST",
    attributes: { "http.request.method": "POST", "server.address": "127.0.0.1", "http.response.status_code": 200 },
  });
  expect(only(spans, "tools/call get_research_results")).toMatchObject({ traceId: TRACE });
  // Polls are made when they are due, by any process, in their own traces that name the run.
  const polls = spans.filter(({ name }) => name === "poll");
  expect(polls.length).toBeGreaterThan(0);
  for (const poll of polls) expect(poll.attributes["gemini_search.run.id"]).toBe(taskId);
  expect(polls.filter(({ traceId, parentSpanId }) => traceId === TRACE || parentSpanId)).toEqual([]);
  expect(collector.resources()).toContainEqual(
    expect.objectContaining({ "service.name": "research-here", "deployment.environment.name": "test" }),
  );
  expect(collector.headers()).toContainEqual(expect.objectContaining({ "x-collector-key": HEADER_SECRET }));
});

test("metrics are sent at shutdown, and neither they nor spans hold secrets, questions, reports or run ids (T9)", async (context) => {
  const scene = await openResearch(context);
  const collector = await startCollector(context);
  const server = await serve(context, scene, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${HEADER_SECRET}`,
    OTEL_METRIC_EXPORT_INTERVAL: "200",
  });
  const call = await connectTraced(context, server, "legacy");
  const { taskId, report } = await wholeResearch(call);
  await call("search", { query: "What is the tallest tower of Europe?" });
  await call("check_research_status", { task_id: "no such id" });
  // The store is read while the process lives, and only then.
  await waitFor(() => {
    expect(collector.points("gemini_search.runs").map(({ attributes }) => attributes)).toContainEqual({
      state: "completed",
      kind: "agent",
    });
  }, SOON);
  await server.close();

  expect(only(collector.spans(), "tools/call search")).toMatchObject({ traceId: TRACE });
  const usage = collector.points("gen_ai.client.token.usage").map(({ attributes }) => attributes);
  expect(usage).toContainEqual({
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.request.model": "deep-research-preview-04-2026",
    "gen_ai.token.type": "output",
  });
  expect(usage).toContainEqual(
    expect.objectContaining({ "gen_ai.operation.name": "generate_content", "gen_ai.token.type": "input" }),
  );
  expect(collector.points("gen_ai.client.operation.duration")).toContainEqual(
    expect.objectContaining({ attributes: expect.objectContaining({ "gen_ai.operation.name": "invoke_agent" }) }),
  );
  expect(collector.points("mcp.server.operation.duration")).toContainEqual(
    expect.objectContaining({ attributes: expect.objectContaining({ "error.type": "INVALID_TASK_ID" }) }),
  );
  expect(collector.points("gemini_search.research.starts").at(-1)).toMatchObject({
    asDouble: 1,
    attributes: { outcome: "accepted" },
  });
  for (const name of ["gemini_search.cost", "gemini_search.upstream.requests", "process.memory.usage"])
    expect(collector.points(name), name).not.toEqual([]);

  const everything = collector.text();
  for (const secret of [TEST_KEY, server.token, HEADER_SECRET]) expect(everything).not.toContain(secret);
  for (const words of ["heat pump", "tallest tower", "no such id", "heat%20pump"])
    expect(everything.toLowerCase()).not.toContain(words);
  const sentences = report.split(/[.\\"]/).filter((sentence) => sentence.trim().length > 20);
  expect(sentences.length).toBeGreaterThan(3);
  for (const sentence of sentences) expect(everything).not.toContain(sentence);
  const labels = collector.metricText();
  expect(labels).not.toContain(taskId);
  expect(labels).not.toContain('"local"');
});

test("/metrics is Prometheus text for the operator's token, and 404 while it is off (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const off = await scene.http();
  expect((await off.request("/metrics")).status).toBe(404);
  const server = await scene.http({ env: { OTEL_METRICS_EXPORTER: "prometheus" } });
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  expect((await server.request("/metrics", { headers: { origin: "https://elsewhere.example" } })).status).toBe(403);
  const { call, client } = await server.connect();
  expect((await call("search", { query: QUERY })).isError).toBe(false);
  const streams = async (): Promise<string> =>
    /^gemini_search_streams\{side="client"\} (\d+)$/m.exec(await (await server.request("/metrics")).text())?.[1] ?? "0";
  const subscription = await client.listen({ resourcesListChanged: true });
  await waitFor(async () => expect(await streams()).toBe("1"), SOON);
  await subscription.close();
  await waitFor(async () => expect(await streams()).toBe("0"), SOON);

  const response = await server.request("/metrics");
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines)
    expect(line).toMatch(/^[a-z_]\w*(?:\{(?:\w+="[^"]*",?)*\})? -?[\d.]+(?:e[+-]?\d+)?$|\+Inf"\} \d+$/);
  expect(text).toContain('gemini_search_runs{state="completed",kind="search"} 1');
  expect(text).toMatch(/^mcp_server_operation_duration_count\{.*gen_ai_tool_name="search".*\} 1$/m);
  expect(text).toMatch(
    /^http_server_request_duration_count\{.*http_route="\/metrics",http_response_status_code="401"\} 1$/m,
  );
  for (const name of [
    "gemini_search_queue_due",
    "gemini_search_queue_late",
    "gemini_search_queue_oldest_due_age",
    "gemini_search_workers",
    "nodejs_eventloop_delay_p99",
  ])
    expect(text).toContain(`\n${name}`);
  for (const secret of [TEST_KEY, server.token, "heat pump"]) expect(text).not.toContain(secret);
});

/** Accepts connections and never responds. */
async function startSilence(context: TestContext): Promise<{ url: string; close: () => void }> {
  const sockets = new Set<Socket>();
  const silence = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => void silence.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    silence.close();
    for (const socket of sockets) socket.destroy();
  };
  context.onTestFinished(close);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return { url: `http://127.0.0.1:${(silence.address() as AddressInfo).port}`, close };
}

test("a collector that is down or silent fails no call, is logged once, and does not delay the shutdown (A8)", async (context) => {
  const silence = await startSilence(context);
  const scene = await openHttpScene(context);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: silence.url, OTEL_METRIC_EXPORT_INTERVAL: "100" };
  const silent = await scene.http({ env });
  const { call } = await silent.connect();
  expect((await call("search", { query: QUERY })).isError).toBe(false);
  process.kill(silent.pid, "SIGTERM");
  expect(await silent.exited).toBe(0);

  silence.close();
  const down = await scene.http({ env });
  const second = await down.connect();
  const warnings = (): string[] => down.stderr().match(/\[WARN\].*collector.*/g) ?? [];
  await waitFor(() => expect(warnings()).toHaveLength(1), SOON);
  for (let index = 0; index < 3; index += 1)
    expect((await second.call("search", { query: `${QUERY} ${index}` })).isError).toBe(false);
  await down.close();
  expect(await down.exited).toBe(0);
  expect(warnings()).toHaveLength(1);
});

test("without its packages one warning says how to install them, and everything works", async (context) => {
  const copy = temporaryDirectory();
  context.onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  for (const part of ["bin", "dist", "prompts", "package.json"])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  const scene = await openHttpScene(context);
  const server = await startHttpServer({
    configDir: scene.configDir,
    env: { ...scene.env, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_METRICS_EXPORTER: "prometheus" },
    program: [join(copy, "bin/gemini-search-mcp.js")],
  });
  context.onTestFinished(() => server.close());
  const { call } = await server.connect();
  expect((await call("search", { query: QUERY })).isError).toBe(false);
  expect((await server.request("/metrics")).status).toBe(404);
  expect(server.stderr().match(/\[WARN\].*/g)).toEqual([expect.stringContaining(`npm install ${PACKAGES.join(" ")} `)]);
});

test("the install command in the warning lists what package.json declares, and no more", () => {
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const declared = Object.entries<string>(peerDependencies).filter(([name]) => name.startsWith("@opentelemetry/"));
  expect(declared.map(([name, range]) => `${name}@${range}`)).toEqual(PACKAGES);
  for (const [name] of declared) expect(peerDependenciesMeta[name]).toEqual({ optional: true });
});

test("no OpenTelemetry module is imported at start unless it is configured", () => {
  const dist = join(ROOT, "dist");
  const chunks = readdirSync(dist).filter((file) => file.endsWith(".js"));
  const text = (file: string): string => readFileSync(join(dist, file), "utf8");
  const imports = (file: string): string[] =>
    [...text(file).matchAll(/(?:from|import)\s*"([^"]+)"/g)].map(([, target]) => target ?? "");
  const withSdk = chunks.filter((file) => imports(file).some((target) => target.startsWith("@opentelemetry/")));
  expect(withSdk).toEqual([expect.stringMatching(/^sdk-/)]);
  // Only by import(), and only from where the settings are read.
  expect(chunks.filter((file) => imports(file).includes(`./${withSdk[0]}`))).toEqual([]);
  expect(
    chunks.filter(
      (file) => text(file).includes(`import(\`./${withSdk[0]}\`)`) || text(file).includes(`import("./${withSdk[0]}")`),
    ),
  ).toHaveLength(1);
});

test("a question to the Gemini CLI is a model call with a child span, without any output of the child (T9)", async (context) => {
  const scene = openCliScene(context);
  const collector = await startCollector(context);
  const server = await scene.server({
    era: "legacy",
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, GEMINI_API_KEY: TEST_KEY },
  });
  expect((await server.call("search", { query: QUERY })).isError).toBe(false);
  await server.close();
  const spans = collector.spans();
  const asked = spans.filter(({ name }) => name.startsWith("generate_content"));
  expect(asked).toMatchObject([
    { attributes: { "gen_ai.operation.name": "generate_content", "gemini_search.backend": "cli" } },
  ]);
  expect(only(spans, "gemini")).toMatchObject({
    parentSpanId: asked[0]?.spanId,
    attributes: { "gemini_search.child.ended": "exit", "process.exit.code": 0 },
  });
  expect(collector.text().toLowerCase()).not.toMatch(/heat pump|test-key/);
});

test("JSON log lines name their run and, inside a span, its trace (A2)", async (context) => {
  const scene = await openResearch(context, { get: [{ fault: "http-500" }] });
  const collector = await startCollector(context);
  const server = await scene.server({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_FORMAT: "json", DEBUG: "true" },
  });
  const lines = (): Record<string, unknown>[] =>
    server
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  await server.call("deep_search", { query: QUERY });
  const started = await server.call("start_deep_research", { query: QUERY });
  const taskId: string = started.structured["task_id"];
  await waitFor(() => {
    expect(lines().filter(({ message }) => String(message).startsWith(`Run ${taskId}: `))).not.toEqual([]);
  }, SOON);
  await server.close();
  for (const line of lines().filter(({ message }) => String(message).includes(taskId)))
    expect(line).toMatchObject({ task_id: taskId });
  const rounds = lines().filter(({ message }) => String(message).startsWith("Deep search round"));
  const { traceId, attributes } = only(collector.spans(), "deep_search");
  expect(rounds.length).toBeGreaterThan(0);
  for (const line of rounds)
    expect(line).toMatchObject({
      task_id: attributes["gemini_search.run.id"],
      trace_id: traceId,
      span_id: expect.stringMatching(/^[\da-f]{16}$/),
    });
});
