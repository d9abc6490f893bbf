/**
 * MCP Events through the built `serve`, with the AI SDK as the client: its own requests, its own check of signatures and
 * challenges. Its callback has a public name and a certificate; below the address guard that name leads to loopback.
 */

import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import {
  createMCPClient,
  experimental_createMCPEventWebhook as createMCPEventWebhook,
  type Experimental_MCPEventStore as MCPEventStore,
  type Experimental_MCPEventSubscription as MCPEventSubscription,
} from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { expect, test, type TestContext } from "vitest";
import { type PageServer, openPageServer } from "../kit/browser/page-api.ts";
import { type Interactions, QUERY } from "../kit/server/research.ts";
import { BIN } from "../kit/server/server.ts";
import { makeCertificateOf } from "../kit/services/certificate.ts";
import { listen } from "../kit/sites/listen.ts";
import { waitFor } from "../kit/wait-for.ts";

const PRELOAD = join(import.meta.dirname, "../kit/sites/simulated-internet.cjs");
const HOST = "callback.onda-press.com";
const CALLBACK = `https://${HOST}/events`;
const SECRET = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;

/** In memory; the client demands a store of its application. */
function createStore() {
  const subscriptions = new Map<string, MCPEventSubscription>();
  const store: MCPEventStore = {
    get: async (key) => subscriptions.get(key),
    getById: async (id) => [...subscriptions.values()].find((subscription) => subscription.id === id),
    set: async (subscription) => void subscriptions.set(subscription.key, subscription),
    update: async (key, patch) => {
      const before = subscriptions.get(key);
      if (before !== undefined) subscriptions.set(key, { ...before, ...patch });
    },
    delete: async (key) => void subscriptions.delete(key),
  };
  return { store, subscriptions };
}

interface Callback {
  /** Answers for the client of the AI SDK. */
  handler: (request: Request) => Promise<Response>;
}

/** The callback on https, and a `serve` that reaches it. */
async function openEvents(context: TestContext, callback: Callback, interactions: Interactions = {}) {
  const scene = await openPageServer(context, interactions);
  const certificate = makeCertificateOf(HOST);
  const file = join(scene.configDir, "authority.pem");
  writeFileSync(file, certificate.cert);
  const requests: { url: string; body: string; headers: Headers }[] = [];
  const port = await listen(
    createServer(certificate, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8");
        const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
        const url = `https://${HOST}${request.url}`;
        requests.push({ url, body, headers });
        const answer = callback.handler(new Request(url, { method: "POST", headers, body }));
        void answer.then(async (given) => response.writeHead(given.status).end(await given.text()));
      });
    }),
  );
  const server = await scene.serve({
    NODE_OPTIONS: `--require ${PRELOAD}`,
    SIMULATED_INTERNET_PORT: String(port),
    NODE_EXTRA_CA_CERTS: file,
  });
  return { scene, server, requests };
}

async function connectAiSdk(
  context: TestContext,
  { url, token }: { url: string; token: string },
  store: MCPEventStore,
) {
  const client = await createMCPClient({
    transport: { type: "http", url: `${url}/mcp`, headers: { authorization: `Bearer ${token}` } },
    experimental_events: { store },
  });
  context.onTestFinished(() => client.close());
  return client;
}

async function research(server: PageServer, query = QUERY): Promise<string> {
  const { body } = await server.post("/api/research", { query });
  return body.task_id;
}

interface RpcAnswer {
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** A request as ChatGPT sends it, after `initialize` or, with `era`, as of 2026-07-28. */
async function rpc(server: PageServer, method: string, params: object, token = server.token): Promise<RpcAnswer> {
  const response = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  const json = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}");
  return JSON.parse(json) as RpcAnswer;
}

const subscription = (more: object = {}) => ({
  name: "research.finished",
  arguments: {},
  delivery: { mode: "webhook", url: CALLBACK, secret: SECRET },
  ...more,
});

test("the client of the AI SDK lists the events, subscribes, is sent them, renews and unsubscribes (O8)", async (context) => {
  const { store, subscriptions } = createStore();
  const events: { name: string; data: Record<string, unknown>; eventId: string }[] = [];
  const handler = createMCPEventWebhook({
    store,
    onEvent: async ({ event }) => void events.push(event),
  });
  const { server, requests } = await openEvents(context, { handler });
  const client = await connectAiSdk(context, server, store);
  const { events: listed } = await client.experimental_events.list();
  expect(listed.map(({ name }) => name)).toEqual([
    "research.finished",
    "research.failed",
    "research.needs_approval",
    "research.changed",
    "budget.threshold",
  ]);
  const { id, refreshBefore } = await client.experimental_events.subscribe({
    name: "research.finished",
    delivery: { mode: "webhook", url: CALLBACK },
    ttlMs: 3_600_000,
  });
  expect(id).toMatch(/^sub_[0-9a-f]{32}$/);
  expect(Date.parse(refreshBefore ?? "")).toBeGreaterThan(Date.now() + 3_500_000);
  const verification = requests[0];
  expect(JSON.parse(verification?.body ?? "")).toMatchObject({ type: "verification" });
  expect(verification?.headers.get("x-mcp-subscription-id")).toBe(id);

  const taskId = await research(server);
  await waitFor(() => expect(events).toHaveLength(1), { timeout: 15_000 });
  expect(events[0]).toMatchObject({
    name: "research.finished",
    data: { task_id: taskId, title: QUERY, status: "completed", cost_usd: expect.any(Number) },
  });
  expect(requests).toHaveLength(2);

  const renewed = await client.experimental_events.refresh({ id });
  expect(renewed.id).toBe(id);
  // The callback has been verified.
  expect(requests).toHaveLength(2);
  const [kept] = subscriptions.values();
  await client.experimental_events.unsubscribe({ id });
  expect(subscriptions.size).toBe(0);
  if (kept !== undefined) await store.set(kept);
  const later = await research(server, `${QUERY} again`);
  await waitFor(async () => expect((await server.get(`/api/runs/${later}`)).body.status).toBe("completed"), {
    timeout: 15_000,
  });
  expect(events).toHaveLength(1);
});

test("an event that comes before its subscription is stored by the client is sent again (O5, O8)", async (context) => {
  const { store, subscriptions } = createStore();
  const ids: string[] = [];
  const accept = createMCPEventWebhook({ store, onEvent: async ({ event }) => void ids.push(event.eventId) });
  const { server, requests } = await openEvents(context, { handler: accept }, { speed: 200 });
  const client = await connectAiSdk(context, server, store);
  const taskId = await research(server);
  const { id } = await client.experimental_events.subscribe({
    name: "research.finished",
    arguments: { task_id: taskId },
    delivery: { mode: "webhook", url: CALLBACK },
  });
  const [{ key } = { key: "" }] = subscriptions.values();
  await store.update(key, { status: "pending" });
  await waitFor(() => expect(requests).toHaveLength(2), { timeout: 15_000 });
  expect(ids).toEqual([]);
  await store.update(key, { status: "active" });
  await waitFor(() => expect(ids).toHaveLength(1), { timeout: 20_000 });
  expect(requests[2]?.headers.get("webhook-id")).toBe(requests[1]?.headers.get("webhook-id"));
  expect(requests[2]?.headers.get("x-mcp-subscription-id")).toBe(id);
});

test("a callback that does not return its challenge is not subscribed, and the error says why (O8)", async (context) => {
  let respond = (_body: { challenge?: string }): Response => Response.json({ challenge: "another" });
  const handler = async (request: Request): Promise<Response> =>
    respond((await request.json()) as { challenge?: string });
  const { server, requests } = await openEvents(context, { handler });
  const reasonOf = async () => (await rpc(server, "events/subscribe", subscription())).error;
  expect(await reasonOf()).toMatchObject({ code: -32_015, data: { reason: "challenge_failed" } });
  respond = () => new Response("no", { status: 404 });
  expect(await reasonOf()).toMatchObject({ code: -32_015, data: { reason: "http_4xx" } });
  respond = () => new Response("no", { status: 500 });
  expect(await reasonOf()).toMatchObject({ code: -32_015, data: { reason: "http_5xx" } });
  respond = () => new Response("not JSON");
  expect(await reasonOf()).toMatchObject({ code: -32_015, data: { reason: "challenge_failed" } });
  await research(server);
  respond = ({ challenge }) => Response.json({ challenge });
  const before = requests.length;
  expect((await rpc(server, "events/subscribe", subscription())).result).toMatchObject({
    cursor: null,
    truncated: false,
  });
  expect(requests).toHaveLength(before + 1);
  // The secret is another one: whoever has it must prove it again.
  const other = subscription({
    delivery: { mode: "webhook", url: CALLBACK, secret: `whsec_${Buffer.alloc(24, 6).toString("base64")}` },
  });
  respond = () => Response.json({ challenge: "another" });
  expect((await rpc(server, "events/subscribe", other)).error?.code).toBe(-32_015);
});

test("what cannot be subscribed is refused with the error of the draft (O8, T23)", async (context) => {
  const { server, scene, requests } = await openEvents(context, {
    handler: async (request) =>
      Response.json({ challenge: ((await request.json()) as { challenge: string }).challenge }),
  });
  const ben = await scene.tokenOf("ben");
  const code = async (more: object, token?: string) =>
    (await rpc(server, "events/subscribe", subscription(more), token)).error?.code;
  const delivery = (url: string, secret = SECRET) => ({ delivery: { mode: "webhook", url, secret } });
  expect(await code({ name: "research.unknown" })).toBe(-32_011);
  expect(await code({ arguments: { task_id: crypto.randomUUID() } })).toBe(-32_011);
  expect(await code({ delivery: { mode: "poll", url: CALLBACK, secret: SECRET } })).toBe(-32_014);
  expect(await code({ arguments: { other: true } })).toBe(-32_602);
  expect(await code({ name: "budget.threshold", arguments: { task_id: crypto.randomUUID() } })).toBe(-32_602);
  expect(await code(delivery(CALLBACK, "whsec_c2hvcnQ="))).toBe(-32_602);
  expect(await code(delivery(CALLBACK.replace("https", "http")))).toBe(-32_602);
  expect(await code(delivery("https://127.0.0.1/events"))).toBe(-32_602);
  expect(await code(delivery("https://[::1]/events"))).toBe(-32_602);
  expect(await code(delivery("https://metadata.internal/"))).toBe(-32_602);
  expect(requests).toEqual([]);
  // A run of another owner is the same as none.
  const taskId = await research(server);
  expect(await code({ arguments: { task_id: taskId } }, ben)).toBe(-32_011);
  expect(await code({ arguments: { task_id: taskId } })).toBeUndefined();
  expect(await code({}, ben)).toBeUndefined();
  // Its owner sees a subscription, and can end it.
  const listed = (await server.get("/api/webhooks", ben)).body.webhooks;
  expect(listed).toMatchObject([
    { address: `https://${HOST}/…`, shape: "mcp", expires_at: expect.any(String), events: ["research.finished"] },
  ]);
  expect((await server.post(`/api/webhooks/${listed[0].webhook_id}/test`, {}, ben)).status).toBe(400);
  const remove = (token: string) =>
    fetch(`${server.url}/api/webhooks/${listed[0].webhook_id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    });
  expect((await remove(server.token)).status).toBe(404);
  expect((await remove(ben)).status).toBe(200);
  expect(await code({}, ben)).toBeUndefined();
  await rpc(server, "events/unsubscribe", subscription());
  const [{ count } = { count: 0 }] = scene.sql<{ count: number }>("select count(*) as count from webhooks");
  expect(count).toBe(2);
  scene.sql(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 99)
     insert into webhooks (webhook_id, owner, url, secret, shape, events, created_at)
     select 'sub_' || n, 'local', 'https://a.example/', 'whsec_', 'mcp', ' research.failed ', 1 from numbers`,
  );
  const { error } = await rpc(server, "events/subscribe", subscription({ name: "research.failed" }));
  expect(error).toMatchObject({ code: -32_013, data: { limit: "subscriptions", max: 100 } });
});

test("the events are offered over HTTP, in both eras, and not over stdio (O8)", async (context) => {
  const scene = await openPageServer(context);
  const { url, token } = await scene.serve();
  const { store } = createStore();
  const http = { type: "http" as const, url: `${url}/mcp`, headers: { authorization: `Bearer ${token}` } };
  const stdio = new StdioMCPTransport({ command: process.execPath, args: [BIN], env: scene.env });
  const list = async (transport: typeof http | StdioMCPTransport, protocolVersionDiscovery: boolean) => {
    const client = await createMCPClient({ transport, protocolVersionDiscovery, experimental_events: { store } });
    context.onTestFinished(() => client.close());
    return (await client.experimental_events.list()).events.length;
  };
  expect(await list(http, true)).toBe(5);
  expect(await list(http, false)).toBe(5);
  await expect(list(stdio, true)).rejects.toThrow("Server does not support events");
});
