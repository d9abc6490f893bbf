import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSessions, type Sessions } from "./legacy-sessions.ts";
import type { Caller } from "../../caller.ts";
import { waitFor } from "../../../test/kit/wait-for.ts";

const ANNA: Caller = { owner: "anna", from: "network" };
const BERT: Caller = { owner: "bert", from: "network" };
const MINUTE = 60_000;

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const PING = { jsonrpc: "2.0", id: 2, method: "ping" };
const CALL = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "wait", arguments: {} } };
const CANCEL = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } };

interface Stage {
  sessions: Sessions;
  pass(ms: number): Promise<void>;
  open(caller?: Caller): Promise<{ status: number; id: string; headers: Headers }>;
  send(id: string, message?: object, options?: { caller?: Caller; signal?: AbortSignal }): Promise<Response>;
  /** The status, once the whole response has arrived. */
  ping(id: string, caller?: Caller): Promise<number>;
  stream(id: string, signal: AbortSignal): Promise<Response>;
  /** Ends the call of the tool that waits. */
  finish(): void;
  /** Whether that call was aborted. */
  aborted(): boolean;
  /** How many servers were notified that their connection has closed. */
  closed(): number;
}

function stage(limits: { maxSessions?: number; maxPerOwner?: number } = {}): Stage {
  let time = 0;
  let aborted = false;
  let closed = 0;
  const waiting = Promise.withResolvers<void>();
  const build = (): McpServer => {
    const server = new McpServer({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    server.server.setRequestHandler("tools/call", async (_request, { mcpReq }) => {
      mcpReq.signal.addEventListener("abort", () => (aborted = true));
      await waiting.promise;
      return { content: [] };
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server is no event target
    server.server.onclose = () => void (closed += 1);
    return server;
  };
  const sessions = createSessions({ build, now: () => time, onerror: () => {}, ...limits });
  onTestFinished(() => sessions.close());
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = (more: object = {}, signal?: AbortSignal): Request =>
    new Request("http://localhost/mcp", { method: "POST", headers: { ...headers, ...more }, signal: signal ?? null });
  const send: Stage["send"] = (id, body = PING, { caller = ANNA, signal } = {}) =>
    sessions.resume(id, { request: post({ "mcp-session-id": id }, signal), caller, body });
  return {
    sessions,
    send,
    ping: async (id, caller = ANNA) => {
      const response = await send(id, PING, { caller });
      await response.text();
      return response.status;
    },
    pass: async (ms) => {
      time += ms;
      await sessions.sweep();
    },
    open: async (caller = ANNA) => {
      const response = await sessions.open({ request: post(), caller, body: INITIALIZE });
      await response.text();
      return { status: response.status, id: response.headers.get("mcp-session-id") ?? "", headers: response.headers };
    },
    stream: (id, signal) => {
      const request = new Request("http://localhost/mcp", { headers: { ...headers, "mcp-session-id": id }, signal });
      return sessions.resume(id, { request, caller: ANNA, body: undefined });
    },
    finish: () => waiting.resolve(),
    aborted: () => aborted,
    closed: () => closed,
  };
}

test("the end of a session closes its server, so that no subscription remains (A9)", async () => {
  const { sessions, open, closed } = stage();
  const { id } = await open();
  const request = new Request("http://localhost/mcp", { method: "DELETE", headers: { "mcp-session-id": id } });
  expect((await sessions.resume(id, { request, caller: ANNA, body: undefined })).status).toBe(200);
  expect(closed()).toBe(1);
});

test("a new session may end an older one of its own owner, never one of another (A9)", async () => {
  const { open, ping, pass } = stage({ maxSessions: 4, maxPerOwner: 2 });
  const first = await open();
  await pass(1);
  const second = await open();
  await pass(1);
  const berts = await open(BERT);
  expect(await ping(first.id)).toBe(200);
  await pass(1);
  const third = await open();
  expect(await Promise.all([first, second, third].map(({ id }) => ping(id)))).toEqual([200, 404, 200]);
  expect(await ping(berts.id, BERT)).toBe(200);
});

describe("a session (A9)", () => {
  test("of another owner is as unknown as one that does not exist", async () => {
    const { open, send, ping } = stage();
    const { id } = await open();
    const answers = [await send(id, PING, { caller: BERT }), await send(crypto.randomUUID())];
    const [others, unknown] = await Promise.all(
      answers.map(async (answer) => ({ status: answer.status, body: await answer.text() })),
    );
    expect(others?.status).toBe(404);
    expect(others).toEqual(unknown);
    expect(await ping(id)).toBe(200);
  });

  test("expires half an hour after its last use", async () => {
    const { open, ping, pass } = stage();
    const { id } = await open();
    await pass(29 * MINUTE);
    expect(await ping(id)).toBe(200);
    await pass(29 * MINUTE);
    expect(await ping(id)).toBe(200);
    await pass(30 * MINUTE);
    expect(await ping(id)).toBe(404);
  });

  test("with an open stream does not expire until half an hour after the stream ends", async () => {
    const { open, ping, stream, pass } = stage();
    const { id } = await open();
    const connection = new AbortController();
    expect((await stream(id, connection.signal)).status).toBe(200);
    await pass(120 * MINUTE);
    connection.abort();
    await pass(29 * MINUTE);
    expect(await ping(id)).toBe(200);
    await pass(30 * MINUTE);
    expect(await ping(id)).toBe(404);
  });

  test("with a running call does not expire, even when its connection is gone", async () => {
    const { open, send, ping, pass, finish, aborted } = stage();
    const { id } = await open();
    const connection = new AbortController();
    const answer = await send(id, CALL, { signal: connection.signal });
    await answer.body?.cancel();
    connection.abort();
    await pass(120 * MINUTE);
    expect(await ping(id)).toBe(200);
    expect(aborted()).toBe(false);
    finish();
    await waitFor(async () => {
      await pass(30 * MINUTE);
      expect(await ping(id)).toBe(404);
    });
  });

  test("whose call was cancelled can expire again", async () => {
    const { open, send, ping, pass, aborted } = stage();
    const { id } = await open();
    await send(id, CALL);
    expect((await send(id, CANCEL)).status).toBe(202);
    expect(await ping(id)).toBe(200);
    expect(aborted()).toBe(true);
    await pass(30 * MINUTE);
    expect(await ping(id)).toBe(404);
  });

  test("above the limit is refused with a time to retry, until one ends or expires", async () => {
    const { open, ping, pass, sessions } = stage({ maxSessions: 2 });
    const [first, second] = [await open(), await open(BERT)];
    const refused = await open();
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("60");
    const headers = { "mcp-session-id": first.id };
    const request = new Request("http://localhost/mcp", { method: "DELETE", headers });
    expect((await sessions.resume(first.id, { request, caller: ANNA, body: undefined })).status).toBe(200);
    expect((await open()).status).toBe(200);
    await pass(30 * MINUTE);
    expect((await open()).status).toBe(200);
    expect(await ping(second.id, BERT)).toBe(404);
  });
});

test("an initialize that fails leaves no session (A9)", async () => {
  const { sessions, open } = stage({ maxSessions: 1 });
  const request = new Request("http://localhost/mcp", {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  expect((await sessions.open({ request, caller: ANNA, body: INITIALIZE })).status).toBe(406);
  expect((await open()).status).toBe(200);
});
