/** The dashboard's live stream over real HTTP: interruptions, restarts, slow readers, and shutdown. */

import { connect } from "node:net";
import { expect, test } from "vitest";
import { type LiveStream, openPageServer, type PageServer } from "../kit/browser/page-api.ts";
import { QUERY, SLOW } from "../kit/server/research.ts";
import { waitFor } from "../kit/wait-for.ts";
import { onBusyMachine } from "../kit/clock/time-limits.ts";

/** Long enough to be cut in the middle, short enough for a test: eight minutes in eight seconds. */
const LIVELY = { speed: 60 };
/** A8. */
const LEAVES_WITHIN_MS = 3_500;
const WHOLE_LIFE_MS = 60 * 60_000;
const SOON = { interval: 20 };

async function start(server: PageServer): Promise<string> {
  const { body } = await server.post("/api/research", { query: QUERY });
  expect(body).toMatchObject({ status: "running_async" });
  return body.task_id;
}

const sentIds = (stream: LiveStream): string[] =>
  stream
    .named("timeline")
    .map(({ data }) => data.id)
    .filter((id: string) => /^e\d+$/.test(id));

const lastSeq = (stream: LiveStream): number => Number(stream.named("timeline").at(-1)?.id ?? 0);

async function storedTimeline(server: PageServer, taskId: string): Promise<string[]> {
  const { body } = await server.get(`/api/runs/${taskId}/timeline`);
  return body.entries.map(({ id }: { id: string }) => id).filter((id: string) => /^e\d+$/.test(id));
}

const inOrder = (count: number): string[] => Array.from({ length: count }, (_, index) => `e${index + 1}`);

const isCompleted = (stream: LiveStream): boolean => stream.named("run").at(-1)?.data.status === "completed";

test("a page receives new runs, their progress and their end (J3)", async (context) => {
  const server = await (await openPageServer(context, LIVELY)).serve();
  const stream = await server.live();
  await stream.until(() => stream.named("hello").length === 1);
  expect(stream.text()).toMatch(/^retry: 1000\n\nevent: hello\ndata: \{"version":"/);
  const taskId = await start(server);
  await stream.until(() => stream.named("runs").some(({ data }) => data.list_changed));
  await stream.until(() => stream.named("runs").some(({ data }) => data.runs[0]?.status === "completed"));
  expect(stream.named("runs").every(({ data }) => data.runs[0].task_id === taskId)).toBe(true);
  expect(stream.named("timeline")).toEqual([]);
});

test("an interrupted page stream continues without loss and without repetition (J3)", async (context) => {
  const server = await (await openPageServer(context, LIVELY)).serve();
  const taskId = await start(server);
  const first = await server.live(`/api/live?run=${taskId}`);
  await first.until(() => sentIds(first).length >= 2);
  first.cut();
  await first.ended;
  const known = sentIds(first);
  const second = await server.live(`/api/live?run=${taskId}&after=0`, { "last-event-id": String(lastSeq(first)) });
  await second.until(() => isCompleted(second));
  second.cut();
  const all = [...known, ...sentIds(second)];
  expect(all).toEqual(inOrder(all.length));
  expect(all).toEqual(await storedTimeline(server, taskId));
  const late = await server.live(`/api/live?run=${taskId}&after=${all.length - 1}`);
  await late.until(() => isCompleted(late));
  expect(sentIds(late)).toEqual([`e${all.length}`]);
  expect(late.named("timeline").at(-1)?.data).toMatchObject({ id: "ended-completed", text: "Completed" });
});

test("a page stream continues across a restart of the server, although Google repeats the events (J3, P2)", async (context) => {
  const scene = await openPageServer(context, { speed: 40 });
  const before = await scene.serve();
  const taskId = await start(before);
  const first = await before.live(`/api/live?run=${taskId}`);
  await first.until(() => sentIds(first).length >= 3);
  process.kill(before.pid, "SIGKILL");
  await first.ended;
  const after = await scene.serve();
  const second = await after.live(`/api/live?run=${taskId}&after=${lastSeq(first)}`);
  await second.until(() => isCompleted(second));
  const all = [...sentIds(first), ...sentIds(second)];
  expect(all).toEqual(inOrder(all.length));
  expect(sentIds(second).length).toBeGreaterThan(0);
  const texts = scene.sql<{ data_json: string }>(
    "select data_json from research_events where task_id = ? order by seq",
    taskId,
  );
  expect(scene.accepted()).toBe(1);
  expect(texts).toHaveLength(all.length);
});

test("two servers that follow the same run store its events once (J3)", async (context) => {
  const scene = await openPageServer(context, LIVELY);
  const [one, other] = [await scene.serve(), await scene.serve()];
  const taskId = await start(one);
  const streams = [await one.live(`/api/live?run=${taskId}`), await other.live(`/api/live?run=${taskId}`)];
  for (const stream of streams) await stream.until(() => isCompleted(stream));
  const stored = await storedTimeline(one, taskId);
  expect(stored).toEqual(inOrder(stored.length));
  for (const stream of streams) expect(sentIds(stream)).toEqual(stored);
});

test("the server exits in time with open streams, and ends them (A8)", async (context) => {
  const server = await (await openPageServer(context, SLOW)).serve();
  const taskId = await start(server);
  const streams = [await server.live(), await server.live(`/api/live?run=${taskId}`)];
  for (const stream of streams) await stream.until(() => stream.named("hello").length === 1);
  const from = performance.now();
  process.kill(server.pid, "SIGTERM");
  expect(await server.exited).toBe(0);
  expect(performance.now() - from).toBeLessThan(onBusyMachine(LEAVES_WITHIN_MS));
  await Promise.all(streams.map(({ ended }) => ended));
});

test("a slow reader misses no event, and is informed that it lagged (A9)", async (context) => {
  const scene = await openPageServer(context, SLOW);
  const server = await scene.serve();
  const taskId = await start(server);
  scene.sql(
    `with recursive n(i) as (select 1001 union all select i + 1 from n where i < 6000)
     insert into research_events (task_id, seq, at, kind, data_json)
     select ?, i, ?, 'thought', ? from n`,
    taskId,
    Date.now() + 1_000,
    JSON.stringify({ text: "x".repeat(4_000) }),
  );
  const socket = connect(server.port, "127.0.0.1");
  context.onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(
    `GET /api/live?run=${taskId}&after=1000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n\r\n`,
  );
  // The server's buffers are full: what it sends next is not received.
  await waitFor(async () => expect((await server.get("/api/runs")).status).toBe(200), SOON);
  let text = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  socket.resume();
  await waitFor(() => expect(text).toContain('"id":"e6000"'), SOON);
  // The run continues meanwhile, and may have sent more events.
  const seqs = [...text.matchAll(/"id":"e(\d+)"/g)].map((match) => Number(match[1])).filter((seq) => seq <= 6_000);
  expect(seqs).toEqual(Array.from({ length: 5_000 }, (_, index) => 1_001 + index));
  // It was informed that it lagged, so it reads everything again.
  expect(text.match(/event: hello/g)?.length).toBeGreaterThan(1);
});

test("for a run with more than 20,000 events, timeline and stream continue with the newest (J3)", async (context) => {
  const scene = await openPageServer(context, { speed: 40 });
  const before = await scene.serve();
  const taskId = await start(before);
  await before.close();
  const [last] = scene.sql<{ seq: number }>(
    "select coalesce(max(seq), 0) as seq from research_events where task_id = ?",
    taskId,
  );
  const newest = (last?.seq ?? 0) + 25_000;
  scene.sql(
    `with recursive n(i) as (select ? union all select i + 1 from n where i < ?)
     insert into research_events (task_id, seq, at, kind, data_json)
     select ?, i, ?, 'thought', '{"text":"An earlier thought"}' from n`,
    (last?.seq ?? 0) + 1,
    newest,
    taskId,
    Date.now(),
  );
  const server = await scene.serve();
  const first = await server.get(`/api/runs/${taskId}/timeline`);
  expect(first.body.last_seq).toBeGreaterThanOrEqual(newest);
  expect(first.body.entries.map(({ id }: { id: string }) => id)).toContain(`e${newest}`);
  expect(first.body.entries.length).toBeLessThan(2_100);
  expect(first.body.entries).toContainEqual(
    expect.objectContaining({ text: expect.stringMatching(/^2\d{4} earlier entries are not shown\.$/) }),
  );
  const stream = await server.live(`/api/live?run=${taskId}&after=${first.body.last_seq}`);
  await stream.until(() => sentIds(stream).length >= 2);
  expect(sentIds(stream)[0]).toBe(`e${first.body.last_seq + 1}`);
  // The timeline continues to the end, too.
  const after = await server.get(`/api/runs/${taskId}/timeline`);
  expect(after.body.last_seq).toBeGreaterThan(newest);
  scene.gemini.skip(WHOLE_LIFE_MS);
  await stream.until(() => isCompleted(stream));
  expect(sentIds(stream)).toEqual((await storedTimeline(server, taskId)).slice(-sentIds(stream).length));
});
