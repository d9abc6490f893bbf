/** The tools over HTTP: both protocol eras, many clients at once, immediate progress. */

import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectHttp, openHttpScene } from "../kit/server/http-server.ts";
import type { Era } from "../kit/server/server.ts";
import { waitFor } from "../kit/wait-for.ts";

const ERAS: Era[] = ["legacy", "modern"];
const QUERY = "How do heat pumps perform in cold climates?";

test("/health answers without a token, and stdout stays empty (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const server = await scene.http();
  const response = await fetch(`${server.url}/health`);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    status: "healthy",
    service: "gemini-search-mcp",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(server.stdout()).toBe("");
  expect(server.stderr()).toContain(`[INFO] Listening on http://127.0.0.1:${server.port}/mcp`);
  expect(server.stderr()).not.toContain(server.token);
});

test("reports of callers over the network are saved inside the server's directory, and nowhere else (N2, T10)", async (context) => {
  const scene = await openHttpScene(context);
  const reports = join(scene.configDir, "reports");
  const outside = join(scene.configDir, "reports-of-others");
  mkdirSync(outside);
  const chosen = await (await scene.http({ env: { RESEARCH_REPORTS_DIR: reports } })).connect("modern");
  const { task_id } = (await chosen.call("search", { query: QUERY })).structured["metadata"];
  const save = async (output_dir?: string) =>
    (await chosen.call("save_research_to_markdown", { task_id, ...(output_dir !== undefined && { output_dir }) }))
      .structured;
  for (const inside of [undefined, "below", reports]) {
    expect((await save(inside))["file_path"]).toMatch(new RegExp(`^${reports}/`));
  }
  for (const elsewhere of [outside, "..", "../reports-of-others", "/tmp", "~"]) {
    expect((await save(elsewhere))["error"]).toMatchObject({ code: "PERMISSION_DENIED" });
  }
  expect(readdirSync(outside)).toEqual([]);
  const unset = await (await scene.http()).connect("legacy");
  const { structured } = await unset.call("save_research_to_markdown", { task_id, output_dir: reports });
  expect(structured["error"]).toMatchObject({
    code: "PERMISSION_DENIED",
    suggestion: expect.stringContaining("RESEARCH_REPORTS_DIR"),
  });
});

describe.each(ERAS)("a %s client", (era) => {
  test("lists and calls the tools as over stdio (A9)", async (context) => {
    const scene = await openHttpScene(context);
    const [server, stdio] = await Promise.all([scene.http(), scene.server({ era })]);
    const http = await server.connect(era);
    const local = (await stdio.client.listTools()).tools;
    // A path would be one of the server.
    for (const { inputSchema } of local) delete inputSchema.properties?.["files"];
    expect((await http.client.listTools()).tools).toEqual(local);
    const { isError, structured } = await http.call("search", { query: QUERY });
    expect(isError).toBe(false);
    expect(structured).toMatchObject({ success: true, metadata: { query: QUERY } });
    // The holder of the server's own token is the user of this machine.
    const { structured: listed } = await stdio.call("list_research", {});
    expect(listed["runs"]).toMatchObject([{ task_id: structured["metadata"].task_id, kind: "search" }]);
    await expect(http.call("no_such_tool", {})).rejects.toThrow("There is no tool");
  });

  test("chooses its tools in the address, whatever the server's own set is (U5)", async (context) => {
    const server = await (await openHttpScene(context)).http({ env: { GEMINI_SEARCH_TOOLS: "core" } });
    const connect = async (path: string) => {
      const connected = await connectHttp(`${server.url}${path}`, era, server.token);
      context.onTestFinished(() => connected.close());
      return connected;
    };
    const [own, chosen] = await Promise.all([connect("/mcp?tools="), connect("/mcp?tools=search,list_research")]);
    expect((await own.client.listTools()).tools).toHaveLength(5);
    expect((await chosen.client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "list_research"]);
    expect((await chosen.call("list_research", {})).structured).toEqual({ success: true, runs: [] });
    await expect(own.call("list_research", {})).rejects.toThrow(
      "The tool list_research is not among the tools offered here (core). GEMINI_SEARCH_TOOLS=all offers it",
    );
    const refused = await server.request("/mcp?tools=core,serach", { method: "POST" });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("The tools in the address are unknown. Choose core, research, all, or tool names"),
    ]);
  });

  test("cannot choose to read pages unless the server's own set offers it (U5, W10)", async (context) => {
    const scene = await openHttpScene(context);
    const [closed, open] = await Promise.all([scene.http(), scene.http({ env: { GEMINI_SEARCH_TOOLS: "all" } })]);
    const connect = async ({ url, token }: typeof open, tools: string) => {
      const connected = await connectHttp(`${url}/mcp?tools=${tools}`, era, token);
      context.onTestFinished(() => connected.close());
      return connected;
    };
    const names = async ({ client }: Awaited<ReturnType<typeof connect>>) =>
      (await client.listTools()).tools.map(({ name }) => name);
    const refused = await connect(closed, "all");
    expect(await names(refused)).toContain("compare_reports");
    expect(await names(refused)).not.toContain("read_page");
    expect(await names(await connect(closed, "search,read_page"))).toEqual(["search"]);
    await expect(refused.call("read_page", { url: "https://a.example/" })).rejects.toThrow(
      /GEMINI_SEARCH_TOOLS=all offers it\.$/,
    );
    expect(await names(await connect(open, "read_page"))).toEqual(["read_page"]);
  });

  test("gets its first progress before the answer is complete (A9)", async (context) => {
    const scene = await openHttpScene(context, { name: "stuck", tasks: { search: [{ fault: "hang" }] } });
    const http = await (await scene.http()).connect(era);
    const controller = new AbortController();
    const first = new Promise<string>((resolve) => {
      http.call("search", { query: QUERY }, { onProgress: resolve, signal: controller.signal }).catch(() => undefined);
    });
    // Gemini never answers: everything that arrives was sent without an answer.
    expect(await first).toMatch(/\w/);
    controller.abort();
  });
});

test("a streamed answer is neither buffered by a proxy nor compressed (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const server = await scene.http();
  const response = await server.request("/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "accept-encoding": "gzip, br",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "search", arguments: { query: QUERY }, _meta: { progressToken: 7 } },
    }),
  });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  expect(response.headers.has("content-encoding")).toBe(false);
  const text = await response.text();
  expect(text).toContain('"progressToken":7');
  expect(text).toContain('"success":true');
});

test("a modern call without progress opens its stream before its answer, so that clients do not time out (A9)", async (context) => {
  const scene = await openHttpScene(context, { name: "stuck", tasks: { search: [{ fault: "hang" }] } });
  const server = await scene.http();
  const controller = new AbortController();
  const response = await server.request("/mcp", {
    method: "POST",
    signal: controller.signal,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "search",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "search",
        arguments: { query: QUERY },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  // Gemini never answers, but there is a status.
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "x-accel-buffering": "no",
  });
  controller.abort();
  await waitFor(() => expect(scene.gemini.ledger.entries()[0]?.outcome).toBe("aborted"));
});

test("ten clients of both eras at once each get their own answer (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const server = await scene.http();
  const clients = await Promise.all(Array.from({ length: 10 }, (_, n) => server.connect(ERAS[n % 2])));
  const answers = await Promise.all(
    clients.flatMap(({ call }, n) =>
      ["first", "second"].map(async (which) => {
        const query = `What is the ${which} thing about field ${n}?`;
        return { query, answer: await call("search", { query }) };
      }),
    ),
  );
  for (const { query, answer } of answers)
    expect(answer.structured).toMatchObject({ success: true, metadata: { query } });
  expect(scene.gemini.ledger.exchanges("search")).toBe(20);
});

test("two servers on one database return each other's runs (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const [one, other] = await Promise.all([scene.http(), scene.http()]);
  const { structured } = await (await one.connect("modern")).call("search", { query: QUERY });
  const { task_id } = structured["metadata"];
  const read = await (await other.connect("legacy")).call("get_research_results", { task_id });
  expect(read.structured).toMatchObject({ success: true, query: QUERY });
});

test("a port in use and a wrong flag are errors before anything runs (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const { port } = await scene.http();
  const taken = await scene.command(["serve", "--port", String(port)]);
  expect(taken).toMatchObject({ code: 1, stdout: "" });
  expect(taken.stderr).toContain(`Port ${port} on 127.0.0.1 is in use`);
  expect(taken.stderr).toContain("--port");
  expect(await scene.command(["serve", "--port", "65536"])).toMatchObject({ code: 2, stdout: "" });
  const open = await scene.command(["serve", "--no-auth", "--host", "0.0.0.0"]);
  expect(open).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--no-auth") });
  const elsewhere = await scene.command(["serve", "--host", "192.0.2.1"]);
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("Cannot listen on 192.0.2.1:3000") });
});

test("--no-auth on loopback requires no token (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const server = await scene.http({ args: ["--no-auth"] });
  const { client } = await server.connect("modern", "");
  expect((await client.listTools()).tools.length).toBeGreaterThan(5);
});
