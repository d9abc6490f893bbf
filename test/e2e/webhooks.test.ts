/** Webhooks through the front doors: added in the terminal and on the page, sent by the built program, and received. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook as Verifier } from "standardwebhooks";
import { expect, test } from "vitest";
import { openPageServer } from "../kit/browser/page-api.ts";
import { startProcess } from "../kit/kills/process.ts";
import { openResearch, QUERY, startRun, untilStatus } from "../kit/server/research.ts";
import { ROOT } from "../kit/server/server.ts";
import { openReceiver, type Received } from "../kit/services/webhook-receiver.ts";
import { waitFor } from "../kit/wait-for.ts";

const SECRET = /^whsec_[\w+/]{43}=\n$/;
/** With a failed attempt: the pause before the second one, and a sweep. */
const RETRIED = { timeout: 60_000, interval: 50 };

const bodiesOf = (received: Received[], secret: string): Record<string, unknown>[] =>
  received.map(({ headers, text }) => {
    const strings = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    return new Verifier(secret).verify(text, strings) as Record<string, unknown>;
  });

test("a webhook added in the terminal is sent what becomes of research, signed with the secret shown once (O4)", async (context) => {
  const scene = await openResearch(context);
  const receiver = await openReceiver();
  const added = await scene.command(["webhook", "add", `${receiver.url}/hook?token=in-the-query`, "--private"]);
  expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(SECRET)]);
  const secret = added.stdout.trim();
  const webhookId = /The webhook (whk_[0-9a-f]{12}) is added/.exec(added.stderr)?.[1] ?? "";
  const listed = await scene.command(["webhook", "list"]);
  expect(listed.stdout).toContain(webhookId);
  const json = await scene.command(["webhook", "list", "--json"]);
  for (const { stdout, stderr } of [listed, json]) expect(stdout + stderr).not.toMatch(/whsec_|in-the-query/);
  const tested = await scene.command(["webhook", "test", webhookId]);
  expect([tested.code, tested.stdout]).toEqual([0, "The test was delivered. The receiver answered with status 200.\n"]);

  const server = await scene.server({ env: { MCP_PUBLIC_URL: "https://research.example.com" } });
  const done = await startRun(server);
  await untilStatus(server, done, "completed");
  scene.play({ status: "failed" });
  const failed = await startRun(server, `${QUERY} 2`);
  await untilStatus(server, failed, "failed");
  scene.play({});
  const plan = await startRun(server, `${QUERY} 3`, { plan: true });
  await untilStatus(server, plan, "awaiting_approval");
  await waitFor(() => expect(receiver.received).toHaveLength(4), RETRIED);
  const [test, ...events] = bodiesOf(receiver.received, secret);
  expect(test).toMatchObject({ type: "test", data: { message: "This webhook works." } });
  const url = (id: string): string => `https://research.example.com/runs/${id}`;
  expect(events).toMatchObject([
    {
      type: "research.finished",
      data: { task_id: done, title: QUERY, status: "completed", cost_usd: expect.any(Number), url: url(done) },
    },
    { type: "research.failed", data: { task_id: failed, status: "failed", url: url(failed) } },
    { type: "research.needs_approval", data: { task_id: plan, status: "awaiting_approval", url: url(plan) } },
  ]);
  expect(server.stderr()).not.toMatch(/whsec_|in-the-query/);
  expect(receiver.received.every(({ path }) => path === "/hook?token=in-the-query")).toBe(true);

  expect((await scene.command(["webhook", "remove", webhookId])).code).toBe(0);
  expect((await scene.command(["webhook", "list"])).stdout).toBe("There are no webhooks.\n");
  const next = await startRun(server, `${QUERY} 4`);
  await untilStatus(server, next, "completed");
  expect(receiver.received).toHaveLength(4);
});

test("the start that reaches a threshold of a budget is sent to the webhook (O4, I13)", async (context) => {
  const scene = await openResearch(context);
  const receiver = await openReceiver();
  await scene.command(["webhook", "add", receiver.url, "--private", "--events", "budget.threshold"]);
  const server = await scene.server({ env: { BUDGET_DAY_USD: "4" } });
  const taskId = await startRun(server);
  await waitFor(() => expect(receiver.received).toHaveLength(1), RETRIED);
  expect(JSON.parse(receiver.received[0]?.text ?? "")).toMatchObject({
    type: "budget.threshold",
    data: { task_id: taskId, message: expect.stringMatching(/% of today's budget/) },
  });
});

test("a worker killed between claim and send, or after it, leaves the message to another, with the same id (O5)", async (context) => {
  const scene = await openResearch(context);
  const receiver = await openReceiver();
  await scene.command(["webhook", "add", receiver.url, "--private"]);
  const server = await scene.server({ env: { RESEARCH_MAX_RPS: "0" } });
  await startRun(server);
  await server.close();
  const build = join(ROOT, "dist-failpoints/main.js");
  const env = { ...scene.env };
  const killed = startProcess({ build, env, args: ["worker"], failpoint: "after-delivery:1" });
  context.onTestFinished(() => killed.kill());
  expect(await killed.ended).toMatchObject({ killed: true });
  expect(receiver.received).toHaveLength(1);
  // The claim of the dead process ends after a minute.
  scene.sql("update notification_outbox set claimed_at = claimed_at - 60000 where channel <> 'desktop'");
  const again = startProcess({ build, env, args: ["worker"], failpoint: "after-delivery-claim:1" });
  context.onTestFinished(() => again.kill());
  expect(await again.ended).toMatchObject({ killed: true });
  expect(receiver.received).toHaveLength(1);
  scene.sql("update notification_outbox set claimed_at = claimed_at - 60000 where channel <> 'desktop'");
  const worker = scene.startCommand(["worker"]);
  await waitFor(() => expect(receiver.received).toHaveLength(2), RETRIED);
  worker.child.kill("SIGTERM");
  await worker.ended;
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(ids[0]).toMatch(/^evt_[0-9a-f]{32}$/);
  expect(ids[1]).toBe(ids[0]);
  const [row] = scene.sql("select sent_at from notification_outbox where channel <> 'desktop'");
  expect(row).toMatchObject({ sent_at: expect.any(Number) });
});

test("a receiver that fails at first gets the message five seconds later, from whichever process is open (O5)", async (context) => {
  const scene = await openResearch(context);
  const receiver = await openReceiver();
  receiver.answer(() => ({ status: receiver.received.length === 1 ? 503 : 200 }));
  await scene.command(["webhook", "add", receiver.url, "--private"]);
  const servers = [await scene.server(), await scene.server()] as const;
  await untilStatus(servers[0], await startRun(servers[0]), "completed");
  await waitFor(() => expect(receiver.received).toHaveLength(2), RETRIED);
  const [first, second] = receiver.received.map(({ headers }) => headers);
  expect(second?.["webhook-id"]).toBe(first?.["webhook-id"]);
  expect(Number(second?.["webhook-timestamp"])).toBeGreaterThanOrEqual(Number(first?.["webhook-timestamp"]) + 5);
});

test("over HTTP each user manages only their own webhooks, and private addresses are refused (O6, T23)", async (context) => {
  const scene = await openPageServer(context);
  const server = await scene.serve();
  const ben = await scene.tokenOf("ben");
  const given = { url: "https://hooks.onda-press.com/T0/secret-part", shape: "slack", events: ["research.finished"] };
  const added = await server.post("/api/webhooks", given, ben);
  expect(added).toMatchObject({ status: 200, body: { address: "https://hooks.onda-press.com/…", shape: "slack" } });
  expect(added.body.secret).toBeUndefined();
  const id: string = added.body.webhook_id;
  expect((await server.get("/api/webhooks", ben)).body.webhooks).toMatchObject([{ webhook_id: id }]);
  expect((await server.get("/api/webhooks")).body).toEqual({ webhooks: [] });
  expect((await server.post(`/api/webhooks/${id}/test`, {})).status).toBe(404);
  const remove = (token: string) =>
    server.request(`/api/webhooks/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${token}` } });
  expect((await remove(server.token)).status).toBe(404);
  for (const url of ["http://hooks.onda-press.com/", "https://localhost/", "https://10.0.0.1:9/", "no address"]) {
    const refused = await server.post("/api/webhooks", { url, is_private: true, isPrivate: true, private: true });
    expect([refused.status, refused.body.error.code]).toEqual([400, "INVALID_INPUT"]);
  }
  const standard = await server.post("/api/webhooks", { url: "https://10.0.0.1/hook" });
  expect(standard.body.secret).toMatch(/^whsec_/);
  expect(await server.post(`/api/webhooks/${standard.body.webhook_id}/test`, {})).toMatchObject({
    status: 200,
    body: { delivered: false, message: "The address leads to a private or reserved network." },
  });
  expect((await remove(ben)).status).toBe(200);
  expect((await server.get("/api/webhooks", ben)).body).toEqual({ webhooks: [] });
  const logged = server.stderr() + server.stdout();
  expect(logged).not.toMatch(/secret-part|whsec_/);
  const files = readdirSync(scene.configDir).filter((name) => !name.startsWith("deep_research.db"));
  for (const name of files.filter((file) => file.endsWith(".log"))) {
    expect(readFileSync(join(scene.configDir, name), "utf8")).not.toMatch(/whsec_/);
  }
});
