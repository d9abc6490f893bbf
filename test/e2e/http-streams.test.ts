/** Event streams over HTTP: the limit per user, and their end when a token is revoked. */

import { expect, test } from "vitest";
import { type LiveStream, openPageServer, type PageServer } from "../kit/browser/page-api.ts";
import { STREAM_LIMITS } from "../../src/operations/parts/stream-permits.ts";

const JSON_RPC = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const post = (server: PageServer, body: object, headers: Record<string, string>): Promise<Response> =>
  server.request("/mcp", {
    method: "POST",
    headers: { ...JSON_RPC, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...body }),
  });

const initialize = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** A session of a 2025-era client with its stream open. */
async function openSession(server: PageServer, token: string): Promise<{ id: string; stream: LiveStream }> {
  const opened = await post(server, initialize, as(token));
  await opened.text();
  const id = opened.headers.get("mcp-session-id") ?? "";
  const headers = { ...as(token), "mcp-session-id": id, accept: "text/event-stream" };
  return { id, stream: await server.live("/mcp", headers) };
}

test("one user's streams are bounded over the page and the protocol, and others keep theirs (A9)", async (context) => {
  const scene = await openPageServer(context);
  const server = await scene.serve();
  const [ann, bob] = [await scene.tokenOf("ann"), await scene.tokenOf("bob")];
  const { id, stream } = await openSession(server, ann);
  expect(stream.status).toBe(200);
  const more = Array.from({ length: STREAM_LIMITS.perUser - 1 }, () => server.live("/api/live", as(ann)));
  const pages = await Promise.all(more);
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));

  const page = await server.get("/api/live", ann);
  expect(page).toMatchObject({ status: 429, body: { success: false, error: { code: "BUSY" } } });
  expect(page.body.error.message).toBe("You already have 100 open streams, the maximum for one user.");
  const inSession = { ...as(ann), "mcp-session-id": id };
  const tool = (name: string, args: object) => ({ method: "tools/call", params: { name, arguments: args } });
  const task_id = crypto.randomUUID();
  for (const refused of [
    tool("search", { query: "Heat?" }),
    tool("check_research_status", { task_id, wait_seconds: 9 }),
  ]) {
    const call = await post(server, { id: "call-2", ...refused }, inSession);
    expect([call.status, await call.json()]).toMatchObject([
      429,
      { id: "call-2", error: { message: expect.stringContaining("the maximum for one user") } },
    ]);
  }
  // Calls that end something, or are answered from the store, are still accepted.
  const short = ["cancel_research", "check_research_status", "get_research_results", "save_research_to_markdown"];
  const passing = [
    ...short.map((name) => tool(name, { task_id })),
    tool("list_research", {}),
    tool("estimate_research_cost", { query: "Heat?" }),
    ...["ping", "tools/list", "resources/list", "prompts/list", "tasks/list"].map((method) => ({ method })),
  ];
  for (const request of passing) {
    const answer = await post(server, { id: 3, ...request }, inSession);
    expect([request, answer.status, await answer.text()]).toEqual([request, 200, expect.stringMatching(/"id": ?3/)]);
  }
  const cancel = { method: "notifications/cancelled", params: { requestId: 9 } };
  expect((await post(server, cancel, { ...as(ann), "mcp-session-id": id })).status).toBe(202);

  const others = await Promise.all(Array.from({ length: 3 }, () => server.live("/api/live", as(bob))));
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);

  for (const open of [...pages, ...others]) open.cut();
  await expect
    .poll(async () => {
      const next = await server.live("/api/live", as(ann));
      next.cut();
      return next.status;
    })
    .toBe(200);
});

test("streams of the page and of the protocol end when their token is revoked, and no others (A9)", async (context) => {
  const scene = await openPageServer(context);
  const server = await scene.serve({ LOG_FORMAT: "json" });
  const ann = await scene.tokenOf("ann");
  const streams = [await server.live("/api/live", as(ann)), (await openSession(server, ann)).stream];
  const own = await server.live();
  let ownEnded = false;
  void own.ended.then(() => (ownEnded = true));
  await scene.command(["token", "revoke", "ann"]);
  await Promise.all(streams.map(({ ended }) => ended));
  expect(ownEnded).toBe(false);
  own.cut();
  // No stack beside the log.
  await server.close();
  for (const line of server.stderr().split("\n")) expect(line).toMatch(/^(?:\{.*\})?$/);
});
