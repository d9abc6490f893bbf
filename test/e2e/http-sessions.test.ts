/** Requests to /mcp that the SDK's client would not send: unknown sessions, invalid bodies and methods. */

import { describe, expect, test } from "vitest";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";

const JSON_RPC = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };

const post = (server: RunningHttpServer, message: unknown, headers: Record<string, string> = {}) =>
  server.request("/mcp", { method: "POST", headers: { ...JSON_RPC, ...headers }, body: JSON.stringify(message) });

async function openSession(server: RunningHttpServer): Promise<{ "mcp-session-id": string }> {
  const response = await post(server, INITIALIZE);
  expect(response.status).toBe(200);
  await response.text();
  return { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
}

const NO_SESSION = {
  jsonrpc: "2.0",
  error: { code: -32_001, message: expect.stringContaining("initialize") },
  id: null,
};

test("a session works until it is deleted, and is then unknown (A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const session = await openSession(server);
  const [other, listed] = [await openSession(server), await post(server, LIST, session)];
  expect(other).not.toEqual(session);
  expect(listed.status).toBe(200);
  expect(await listed.text()).toContain('"start_deep_research"');
  const stream = await server.request("/mcp", { headers: { accept: "text/event-stream", ...session } });
  expect(stream.status).toBe(200);
  const second = await server.request("/mcp", { headers: { accept: "text/event-stream", ...session } });
  expect(second.status).toBe(409);
  expect((await server.request("/mcp", { method: "DELETE", headers: session })).status).toBe(200);
  // Its stream ends with it.
  expect(await stream.text()).not.toContain("data:");
  for (const method of ["GET", "DELETE"]) {
    const gone = await server.request("/mcp", { method, headers: { accept: "text/event-stream", ...session } });
    expect(gone.status).toBe(404);
    expect(await gone.json()).toEqual(NO_SESSION);
  }
  const gone = await post(server, LIST, session);
  expect(gone.status).toBe(404);
  expect(await gone.json()).toEqual(NO_SESSION);
  expect((await post(server, LIST, other)).status).toBe(200);
});

test("a session id without its token is refused (A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const session = await openSession(server);
  expect((await post(server, LIST, { ...session, authorization: "Bearer wrong" })).status).toBe(401);
});

test("after a restart an old session is unknown, and the client can connect again (A9)", async (context) => {
  const scene = await openHttpScene(context);
  const before = await scene.http();
  const session = await openSession(before);
  await before.close();
  const after = await scene.http();
  const gone = await post(after, LIST, session);
  expect(gone.status).toBe(404);
  expect(await gone.json()).toEqual(NO_SESSION);
  expect((await post(after, LIST, await openSession(after))).status).toBe(200);
});

test("a single request without a session is answered (A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const response = await post(server, LIST);
  expect(response.status).toBe(200);
  expect(response.headers.has("mcp-session-id")).toBe(false);
  expect(await response.text()).toContain('"start_deep_research"');
});

describe("a request that /mcp does not accept (A9)", () => {
  const MANY_BYTES = "x".repeat(4 * 1_024 * 1_024);
  const sent = (body: string, headers: Record<string, string> = JSON_RPC): RequestInit => ({
    method: "POST",
    headers,
    body,
  });
  const chunked = (): RequestInit => ({
    method: "POST",
    headers: JSON_RPC,
    // Without a declared length, the limit applies while reading.
    body: new Blob([JSON.stringify({ ...LIST, params: { text: MANY_BYTES } })]).stream(),
    duplex: "half",
  });
  const CASES: [string, number, () => RequestInit][] = [
    ["a body over 4 MiB", 413, () => sent(JSON.stringify({ ...LIST, params: { text: MANY_BYTES } }))],
    ["a body over 4 MiB in chunks", 413, chunked],
    ["a batch, which would pass every limit", 400, () => sent(JSON.stringify([LIST, LIST]))],
    ["a body that is no JSON by its type", 415, () => sent("{}", { ...JSON_RPC, "content-type": "text/plain" })],
    ["a body that is no JSON", 400, () => sent("{")],
    ["an empty body", 400, () => sent("")],
    ["JSON that is no message", 400, () => sent('"hello"')],
    ["a client that takes no stream", 406, () => sent(JSON.stringify(LIST), { ...JSON_RPC, accept: "text/html" })],
    ["a stream without a session", 405, () => ({ headers: { accept: "text/event-stream" } })],
    ["a DELETE without a session", 405, () => ({ method: "DELETE" })],
    ["PUT", 405, () => ({ method: "PUT", body: "{}" })],
    ["PATCH", 405, () => ({ method: "PATCH", body: "{}" })],
    ["HEAD", 405, () => ({ method: "HEAD" })],
    ["OPTIONS that is no preflight", 405, () => ({ method: "OPTIONS" })],
    [
      "an unknown version in a message of our time",
      400,
      () =>
        sent(
          JSON.stringify({
            ...LIST,
            params: {
              _meta: {
                "io.modelcontextprotocol/protocolVersion": "2099-01-01",
                "io.modelcontextprotocol/clientCapabilities": {},
              },
            },
          }),
          { ...JSON_RPC, "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" },
        ),
    ],
  ];

  test("gets its own status and a JSON answer without a stack trace, and the server keeps running", async (context) => {
    const server = await (await openHttpScene(context)).http();
    for (const [what, status, init] of CASES) {
      const response = await server.request("/mcp", init());
      const text = await response.text();
      expect(response.status, `${what}: ${text}`).toBe(status);
      // An answer to HEAD has no body.
      const said: unknown = what === "HEAD" ? { error: { message: "" } } : JSON.parse(text);
      expect(said, what).toMatchObject({ error: { message: expect.any(String) } });
      expect(text, what).not.toMatch(/\bat .*\.[jt]s:\d/);
      expect(response.headers.get("allow")?.includes("POST") ?? false, what).toBe(status === 405);
    }
    expect((await post(server, LIST)).status).toBe(200);
    expect(server.stdout()).toBe("");
    expect(server.stderr()).not.toContain("ERROR");
  });
});
