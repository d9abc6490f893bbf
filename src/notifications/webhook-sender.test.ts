import { randomUUID } from "node:crypto";
import { Webhook as Verifier } from "standardwebhooks";
import { expect, test } from "vitest";
import { createTestLog } from "../../test/kit/log.ts";
import { openReceiver } from "../../test/kit/services/webhook-receiver.ts";
import { insertRun, openDatabase } from "../../test/kit/store/store-rows.ts";
import { createPost } from "../pages/transport/post.ts";
import { systemClock } from "../platform/clock.ts";
import type { Database } from "../store/database.ts";
import { announce } from "./announce.ts";
import type { NotificationKind } from "./desktop.ts";
import { createWebhook, readWebhooks, removeWebhook, testWebhook } from "./manage-webhooks.ts";
import { createWebhookSender, RETRY_DELAYS_MS } from "./webhook-sender.ts";
import { type EventName, EVENTS } from "./event-names.ts";
import { disableWebhooksOf, saveWebhook } from "./webhook-store.ts";

const SECOND_MS = 1_000;

/** The sender of one process, whose wall clock a test moves. Signatures have the time of the machine at first. */
async function openSender() {
  const db = await openDatabase();
  const time = { now: Date.now() };
  const clock = { ...systemClock, now: () => time.now };
  const lines: string[] = [];
  const log = createTestLog((line) => lines.push(line));
  const leaving = new AbortController();
  const publicUrl = "https://research.example.com/";
  const deps = { clock, post: createPost(), publicUrl, signal: leaving.signal };
  const process = () => createWebhookSender({ ...deps, db, processId: randomUUID(), log });
  return { db, time, lines, deps, leaving, process, ...process() };
}

interface News {
  owner?: string;
  kind?: NotificationKind;
  title?: string;
  earlierIds?: string[];
}

async function announceEnd(db: Database, now: number, { owner = "local", kind = "completed", ...news }: News = {}) {
  const taskId = randomUUID();
  await insertRun(db, { task_id: taskId, owner });
  await db.transaction().execute((transaction) =>
    announce(transaction, {
      taskId,
      owner,
      title: news.title ?? "How deep is the lake?",
      earlierIds: async () => news.earlierIds ?? [],
      kind,
      notification: { title: "Deep Research Complete", body: "1b4e28ba: finished in 12 min" },
      onDesktop: false,
      status: "completed",
      costUsd: 1.234567,
      now,
    }),
  );
  return taskId;
}

const add = async (db: Database, url: string, more: object = {}, owner = "local") =>
  createWebhook(db, { url, ...more }, { owner, isPrivate: true, now: Date.now() });

test("a message is signed as the library of Standard Webhooks checks it, and has no more than it needs (O4)", async () => {
  const { db, time, deliverDue } = await openSender();
  const receiver = await openReceiver();
  const { secret = "" } = await add(db, `${receiver.url}/hook?key=1`);
  const taskId = await announceEnd(db, time.now, { title: "How deep\u0007 is\nthe lake?" });
  expect(await deliverDue()).toBe(1);
  const [message] = receiver.received;
  expect(message?.path).toBe("/hook?key=1");
  const headers = Object.fromEntries(
    Object.entries(message?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
  expect(new Verifier(secret).verify(message?.text ?? "", headers)).toEqual({
    type: "research.finished",
    timestamp: new Date(time.now).toISOString(),
    data: {
      task_id: taskId,
      title: "How deep is the lake?",
      message: "1b4e28ba: finished in 12 min",
      status: "completed",
      cost_usd: 1.2346,
      url: `https://research.example.com/runs/${taskId}`,
    },
  });
  expect(() => new Verifier(secret).verify(`${message?.text} `, headers)).toThrow("No matching signature");
  expect(await deliverDue()).toBe(0);
});

test("a failed delivery is made again with the same id after growing pauses, then the webhook is disabled (O5)", async () => {
  const { db, time, lines, deliverDue } = await openSender();
  const receiver = await openReceiver();
  receiver.answer(() => ({ status: 500 }));
  const { webhook_id } = await add(db, `${receiver.url}/secret-path?token=secret-query`);
  await announceEnd(db, time.now);
  await announceEnd(db, time.now, { kind: "failed" });
  expect(await deliverDue()).toBe(2);
  for (const delay of RETRY_DELAYS_MS.slice(0, -1)) {
    time.now += delay - SECOND_MS;
    expect(await deliverDue()).toBe(0);
    time.now += SECOND_MS;
    expect(await deliverDue()).toBe(2);
  }
  time.now += RETRY_DELAYS_MS.at(-1) ?? 0;
  // With the last attempt of the first, the second is dropped.
  expect(await deliverDue()).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(2);
  expect(receiver.received).toHaveLength(2 * RETRY_DELAYS_MS.length + 1);
  expect(await readWebhooks(db, "local")).toMatchObject([
    { webhook_id, disabled: "8 attempts failed; the last one: The receiver answered with status 500." },
  ]);
  await announceEnd(db, time.now);
  time.now += 100 * 3_600_000;
  expect(await deliverDue()).toBe(0);
  expect(lines.join("")).not.toMatch(/secret/);
});

test("a message that a receiver never accepts is abandoned alone, as long as others arrive (O5)", async () => {
  const { db, time, lines, deliverDue } = await openSender();
  const receiver = await openReceiver();
  receiver.answer(({ text }) => ({ status: text.includes("unwanted") ? 400 : 200 }));
  await add(db, receiver.url);
  const unwanted = await announceEnd(db, time.now, { title: "unwanted" });
  await deliverDue();
  for (const delay of RETRY_DELAYS_MS) {
    time.now += delay;
    await announceEnd(db, time.now);
    expect(await deliverDue()).toBe(2);
  }
  expect((await readWebhooks(db, "local"))[0]?.disabled).toBeUndefined();
  expect(lines.join("")).toContain("is abandoned");
  const rows = await db.selectFrom("notification_outbox").selectAll().where("sent_at", "is", null).execute();
  expect(rows).toEqual([]);
  await announceEnd(db, time.now);
  expect(await deliverDue()).toBe(1);
  expect(receiver.received.filter(({ text }) => text.includes(unwanted))).toHaveLength(RETRY_DELAYS_MS.length + 1);
});

test("a disabled webhook is used again once a test of it succeeds (O5)", async () => {
  const { db, time, deps, deliverDue } = await openSender();
  const receiver = await openReceiver();
  receiver.answer(() => ({ status: 410 }));
  const { webhook_id: webhookId } = await add(db, receiver.url);
  await announceEnd(db, time.now);
  expect(await deliverDue()).toBe(1);
  expect(await readWebhooks(db, "local")).toMatchObject([{ disabled: expect.stringContaining("410") }]);
  const of = { owner: "local", webhookId };
  expect(await testWebhook(db, of, deps)).toEqual({
    delivered: false,
    message: "The receiver answered with status 410.",
  });
  receiver.answer(() => ({ status: 204 }));
  expect(await testWebhook(db, of, deps)).toMatchObject({ delivered: true });
  expect((await readWebhooks(db, "local"))[0]?.disabled).toBeUndefined();
  await announceEnd(db, time.now);
  expect(await deliverDue()).toBe(1);
});

test("a redirect is not followed, and a receiver that takes its time delays no other (O5, T23)", async () => {
  const { db, time, leaving, deliverDue } = await openSender();
  const [redirecting, target, hanging] = [await openReceiver(), await openReceiver(), await openReceiver()];
  redirecting.answer(() => ({ status: 302, location: target.url }));
  hanging.answer(() => undefined);
  for (const { url } of [hanging, redirecting, target]) await add(db, url);
  await announceEnd(db, time.now);
  await announceEnd(db, time.now);
  const delivering = deliverDue();
  await expect.poll(() => target.received.length).toBe(2);
  expect(redirecting.received).toHaveLength(2);
  expect(hanging.received).toHaveLength(1);
  leaving.abort();
  await delivering;
  const left = await db.selectFrom("notification_outbox").selectAll().where("sent_at", "is", null).execute();
  // Those to the hanging receiver were not refused; the redirects count as attempts.
  expect(left.map(({ attempts }) => attempts).toSorted((one, other) => one - other)).toEqual([0, 0, 1, 1]);
});

test("what a process that died had claimed is sent by another one, with the same id (O5)", async () => {
  const { db, time, process, deliverDue } = await openSender();
  const receiver = await openReceiver();
  await add(db, receiver.url);
  await announceEnd(db, time.now);
  const { claimDelivery } = await import("./outbox.ts");
  expect(await claimDelivery(db, { processId: "dead", now: time.now, busy: [] })).toMatchObject({ attempts: 0 });
  expect(await deliverDue()).toBe(0);
  time.now += 60 * SECOND_MS;
  const [first, second] = await Promise.all([deliverDue(), process().deliverDue()]);
  expect(first + second).toBe(1);
  expect(receiver.received).toHaveLength(1);
});

test("each owner sees, uses and removes only their own webhooks, and is told only about their own runs (O6)", async () => {
  const { db, time, deps, deliverDue } = await openSender();
  const [mine, theirs] = [await openReceiver(), await openReceiver()];
  const { webhook_id: webhookId } = await add(db, mine.url, {}, "anna");
  await add(db, theirs.url, { events: ["research.failed"] }, "ben");
  await announceEnd(db, time.now, { owner: "anna" });
  await announceEnd(db, time.now, { owner: "ben" });
  await announceEnd(db, time.now, { owner: "ben", kind: "failed" });
  expect(await deliverDue()).toBe(2);
  expect([mine.received.length, theirs.received.length]).toEqual([1, 1]);
  expect(await readWebhooks(db, "ben")).toMatchObject([{ events: ["research.failed"] }]);
  const asBen = { owner: "ben", webhookId };
  await expect(removeWebhook(db, asBen)).rejects.toThrow("no webhook with this id");
  await expect(testWebhook(db, asBen, deps)).rejects.toThrow("no webhook with this id");
  await announceEnd(db, time.now, { owner: "anna" });
  await removeWebhook(db, { owner: "anna", webhookId });
  expect(await deliverDue()).toBe(0);
});

test("an address that is not public is refused, at once or when it is sent something (O6, T23)", async () => {
  const { db, time, deliverDue } = await openSender();
  const create = (url: string) => createWebhook(db, { url }, { owner: "local", now: Date.now() });
  await expect(create("http://93.184.216.34/hook")).rejects.toThrow("must begin with https://");
  await expect(create("https://localhost/hook")).rejects.toThrow("does not belong to the public Internet");
  await expect(create("https://user:password@hooks.onda-press.com/")).rejects.toThrow("user name or password");
  await expect(create("https://hooks.onda-press.com:22/")).rejects.toThrow("port");
  await expect(create("not an address")).rejects.toThrow("not a valid web address");
  const { webhook_id } = await create("https://127.0.0.1/hook?token=abc");
  await announceEnd(db, time.now);
  for (const delay of [0, ...RETRY_DELAYS_MS]) {
    time.now += delay;
    expect(await deliverDue()).toBe(1);
  }
  expect(await readWebhooks(db, "local")).toMatchObject([
    {
      webhook_id,
      address: "https://127.0.0.1/…",
      disabled: expect.stringContaining("The address leads to a private or reserved network."),
    },
  ]);
});

test("the webhooks of a revoked token are sent nothing, and those of other owners are (O6)", async () => {
  const { db, time, deliverDue } = await openSender();
  const receiver = await openReceiver();
  await add(db, `${receiver.url}/anna`, {}, "anna");
  await add(db, `${receiver.url}/local`);
  await disableWebhooksOf(db, "anna");
  await announceEnd(db, time.now, { owner: "anna" });
  expect(await deliverDue()).toBe(0);
  await announceEnd(db, time.now);
  expect(await deliverDue()).toBe(1);
  expect(await readWebhooks(db, "anna")).toMatchObject([{ disabled: "The token was revoked." }]);
});

test("an owner has at most 20 webhooks (O6)", async () => {
  const { db } = await openSender();
  for (let count = 0; count < 20; count += 1) await add(db, "http://127.0.0.1:9/");
  await expect(add(db, "http://127.0.0.1:9/")).rejects.toThrow("There are 20 webhooks already.");
  await add(db, "http://127.0.0.1:9/", {}, "anna");
});

test("a subscription to a run is sent what becomes of the plan that it stands for, until it expires (O8)", async () => {
  const { db, time, deliverDue } = await openSender();
  const receiver = await openReceiver();
  const [plan, other] = [randomUUID(), randomUUID()];
  for (const [webhookId, taskId] of [["sub_1", plan] as const, ["sub_2", other] as const]) {
    await saveWebhook(db, {
      webhookId,
      owner: "local",
      url: `${receiver.url}/${webhookId}`,
      secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
      shape: "mcp",
      events: ["research.finished"],
      taskId,
      isPrivate: true,
      createdAt: time.now,
      expiresAt: time.now + 60 * SECOND_MS,
      disabled: undefined,
    });
  }
  await announceEnd(db, time.now, { earlierIds: [plan] });
  expect(await deliverDue()).toBe(1);
  const [message] = receiver.received;
  expect(message?.path).toBe("/sub_1");
  expect(JSON.parse(message?.text ?? "")).toMatchObject({ eventId: message?.headers["webhook-id"], cursor: null });
  await announceEnd(db, time.now, { earlierIds: [plan] });
  time.now += 60 * SECOND_MS;
  await announceEnd(db, time.now, { earlierIds: [plan] });
  await deliverDue();
  expect(receiver.received).toHaveLength(1);
  expect(await db.selectFrom("webhooks").selectAll().execute()).toEqual([]);
});

const KINDS: Record<NotificationKind, EventName> = {
  completed: "research.finished",
  failed: "research.failed",
  plan: "research.needs_approval",
  changed: "research.changed",
  budget: "budget.threshold",
  no_budget: "budget.threshold",
  not_started: "research.failed",
};

test("Slack, Teams and ntfy get a body of their own for each event, in which text is no markup (O7)", async () => {
  const { db, time, deliverDue } = await openSender();
  const receiver = await openReceiver();
  await add(db, `${receiver.url}/slack`, { shape: "slack" });
  await add(db, `${receiver.url}/teams`, { shape: "teams" });
  await add(db, `${receiver.url}/base/my-topic?auth=abc`, { shape: "ntfy" });
  const title = "<!channel> [a](https://evil.example) & **b**";
  const taskId = await announceEnd(db, time.now, { title });
  expect(await deliverDue()).toBe(3);
  const bodies = new Map(receiver.received.map(({ path, text }) => [path, JSON.parse(text)]));
  const url = `https://research.example.com/runs/${taskId}`;
  expect(bodies.get("/slack")).toEqual({
    text: `*Research finished*\n&lt;!channel&gt; [a](https://evil.example) &amp; **b**\n1b4e28ba: finished in 12 min\n<${url}|Open>`,
  });
  const { content } = bodies.get("/teams").attachments[0];
  expect(
    content.body.map((line: { type: string; inlines: { text: string }[] }) => [line.type, line.inlines[0]?.text]),
  ).toEqual([
    ["RichTextBlock", "Research finished"],
    ["RichTextBlock", title],
    ["RichTextBlock", "1b4e28ba: finished in 12 min"],
  ]);
  expect(content.actions).toEqual([{ type: "Action.OpenUrl", title: "Open", url }]);
  expect(bodies.get("/base/?auth=abc")).toEqual({
    topic: "my-topic",
    title: "Research finished",
    message: `${title}\n1b4e28ba: finished in 12 min`,
    click: url,
  });
  expect(receiver.received.every(({ headers }) => headers["webhook-signature"] === undefined)).toBe(true);
  for (const kind of Object.keys(KINDS) as NotificationKind[]) await announceEnd(db, time.now, { kind });
  expect(await deliverDue()).toBe(3 * Object.keys(KINDS).length);
});

test("each kind of event has its name (O4)", async () => {
  const { db, time, deliverDue } = await openSender();
  const receiver = await openReceiver();
  await add(db, receiver.url);
  for (const kind of Object.keys(KINDS) as NotificationKind[]) await announceEnd(db, time.now, { kind });
  await deliverDue();
  expect(receiver.received.map(({ text }) => JSON.parse(text).type)).toEqual(Object.values(KINDS));
  expect(new Set(Object.values(KINDS))).toEqual(new Set(EVENTS));
});
