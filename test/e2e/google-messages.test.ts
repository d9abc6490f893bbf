/** Google's messages that a research has ended, to the built `serve`: a hint to poll, whatever else is in them. */

import { once } from "node:events";
import { createServer } from "node:net";
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { expect, test, type TestContext } from "vitest";
import { signedToken } from "../../simulator/interactions/webhooks.ts";
import { startHttpServer } from "../kit/server/http-server.ts";
import { type Interactions, openResearch, QUERY, SLOW } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";

/** After the first one no poll is due during a test. */
const RARELY = { RESEARCH_POLL_INTERVAL_MS: "600000" };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function openServer(context: TestContext, interactions: Interactions, { isPublic = true } = {}) {
  const scene = await openResearch(context, interactions);
  const port = await freePort();
  const own = `http://127.0.0.1:${port}`;
  const env = { ...scene.env, ...RARELY, ...(isPublic ? { MCP_PUBLIC_URL: `${own}/mcp` } : {}) };
  const server = await startHttpServer({ configDir: scene.configDir, env, args: ["--port", String(port)] });
  context.onTestFinished(() => server.close());
  const start = async (query = QUERY): Promise<{ taskId: string; interactionId: string }> => {
    const headers = { "content-type": "application/json" };
    const answer = await server.request("/api/research", { method: "POST", headers, body: JSON.stringify({ query }) });
    const { task_id: taskId } = (await answer.json()) as { task_id: string };
    const [row] = await waitFor(async () => {
      const rows = scene.sql<{ interaction_id: string | null }>(
        "select interaction_id from research_tasks where task_id = ?",
        taskId,
      );
      expect(rows[0]?.interaction_id).not.toBeNull();
      return rows;
    });
    return { taskId, interactionId: row?.interaction_id ?? "" };
  };
  const statusOf = (taskId: string): string | undefined =>
    scene.sql<{ status: string }>("select status from research_tasks where task_id = ?", taskId)[0]?.status;
  const polls = (id: string): number => scene.gemini.ledger.trafficOf(id).polls.length;
  const url = `${own}/webhooks/google`;
  const send = async (token: string | undefined, event: object, id: string = crypto.randomUUID()): Promise<number> => {
    const headers = {
      "content-type": "application/json",
      ...(id === "" ? {} : { "webhook-id": id }),
      "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
      ...(token === undefined ? {} : { "webhook-signature": token }),
    };
    return (await fetch(url, { method: "POST", headers, body: JSON.stringify(event) })).status;
  };
  return { scene, server, start, statusOf, polls, send, url };
}

/** The first poll is made before it ends, and its stream of progress never says so. */
const SECONDS: Interactions = { speed: 100, stream: [{ cut: "hang", cut_after: 1 }] };

const completed = (id: string) => ({ type: "interaction.completed", version: "v1", data: { id } });

test("a research is collected when Google announces its end, long before the next poll (O9)", async (context) => {
  const { start, statusOf, polls } = await openServer(context, SECONDS);
  const { taskId, interactionId } = await start();
  await waitFor(() => expect(statusOf(taskId)).toBe("completed"), { timeout: 15_000 });
  expect(polls(interactionId)).toBe(2);
});

test("without a public URL Google is not asked to, and there is nothing at the address (O9, T30)", async (context) => {
  const { scene, server, start, statusOf, send } = await openServer(context, SECONDS, { isPublic: false });
  const { taskId, interactionId } = await start();
  const event = completed(interactionId);
  expect(await send(signedToken(`${server.url}/webhooks/google`, event), event)).toBe(401);
  const ended = { status: "completed" };
  await waitFor(() => expect(scene.gemini.interaction(interactionId)).toMatchObject(ended), { timeout: 15_000 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(statusOf(taskId)).toBe("running_async");
});

test("messages without an id are not taken for one another (O9)", async (context) => {
  const { start, polls, send, url } = await openServer(context, { ...SECONDS, ...SLOW });
  for (const query of [QUERY, `${QUERY} 2`]) {
    const { interactionId } = await start(query);
    await waitFor(() => expect(polls(interactionId)).toBe(1), { timeout: 5_000 });
    const event = completed(interactionId);
    expect(await send(signedToken(url, event), event, "")).toBe(204);
    await waitFor(() => expect(polls(interactionId)).toBe(2), { timeout: 5_000 });
  }
});

test("a message only causes a poll, once, and one that Google has not signed nothing at all (O9, T30)", async (context) => {
  const { server, start, statusOf, polls, send, url } = await openServer(context, { ...SECONDS, ...SLOW });
  const { taskId, interactionId } = await start();
  await waitFor(() => expect(polls(interactionId)).toBe(1), { timeout: 5_000 });
  const event = completed(interactionId);
  const now = Math.floor(Date.now() / 1_000);
  const { privateKey } = await generateKeyPair("RS256");
  const forged = new SignJWT({ ...event, aud: url, iat: now, exp: now + 300 });
  const refused: Record<string, string | undefined> = {
    missing: undefined,
    empty: "",
    "no token": "v1,c2lnbmF0dXJl",
    "of another key": await forged.setProtectedHeader({ alg: "RS256", kid: "another" }).sign(privateKey),
    unsigned: new UnsecuredJWT({ ...event, aud: url, iat: now, exp: now + 300 }).encode(),
    symmetric: await new SignJWT({ ...event, iat: now, exp: now + 300 })
      .setProtectedHeader({ alg: "HS256" })
      .sign(new TextEncoder().encode("a shared secret of more than 32 bytes")),
    expired: signedToken(url, event, { iat: now - 400, exp: now - 100 }),
    old: signedToken(url, event, { iat: now - 600, exp: now + 600 }),
    "of the future": signedToken(url, event, { iat: now + 600, exp: now + 900 }),
    endless: signedToken(url, event, { exp: undefined }),
    undated: signedToken(url, event, { iat: undefined }),
    "for another server": signedToken("https://other.example/webhooks/google", event),
    changed: signedToken(url, event).replace(
      /\.[^.]*\./,
      `.${Buffer.from(JSON.stringify(event)).toString("base64url")}.`,
    ),
  };
  for (const [what, token] of Object.entries(refused)) expect([what, await send(token, event)]).toEqual([what, 401]);
  expect(polls(interactionId)).toBe(1);
  expect(server.stderr().match(/A message to \/webhooks\/google was refused/g)).toHaveLength(1);

  const token = signedToken(url, event);
  expect(await send(token, event, "message-1")).toBe(204);
  await waitFor(() => expect(polls(interactionId)).toBe(2), { timeout: 5_000 });
  // Google says that it is still running, so it is.
  expect(statusOf(taskId)).toBe("running_async");
  expect(await send(token, event, "message-1")).toBe(204);
  expect(await send(token, event, "message-2")).toBe(204);
  expect(await send(signedToken(url, event, { jti: "again" }), event, "message-1")).toBe(204);
  for (const other of [completed("v1_unknown"), { data: 1 }, completed("x".repeat(2_000))]) {
    expect(await send(signedToken(url, other), other)).toBe(204);
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(polls(interactionId)).toBe(2);
});

test("a start whose webhook Google refuses is sent again without it (I8, O9)", async (context) => {
  const { scene, start } = await openServer(context, { webhooks_refused: true });
  await start();
  expect([scene.posts(), scene.accepted()]).toEqual([2, 1]);
});
