/** Faults that leave a paid run behind, and what the ledger and a restarted simulator know about it. */

import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { keyFingerprint } from "../ledger.ts";
import { startSimulator, type Simulator } from "../server.ts";
import { clientOf, KEY, openResearch, START, WHOLE_MS } from "../../test/kit/simulator/interactions-client.ts";

type CreateFault = NonNullable<Parameters<typeof openResearch>[0]>["create"] extends (infer Step)[] | undefined
  ? NonNullable<Step extends { fault?: infer Fault } ? Fault : never>
  : never;

function rawStart({ url }: Simulator, init: RequestInit = {}): Promise<Response> {
  const headers = { "x-goog-api-key": KEY };
  return fetch(`${url}/v1beta/interactions`, { method: "POST", headers, body: JSON.stringify(START), ...init });
}

/** Aborts a start after the simulator has accepted it. */
async function abortAcceptedStart(simulator: Simulator): Promise<void> {
  const controller = new AbortController();
  const request = rawStart(simulator, { signal: controller.signal });
  await expect.poll(() => simulator.ledger.acceptedStarts().length).toBe(1);
  controller.abort();
  await expect(request).rejects.toThrow();
}

const answersOf = ({ ledger }: Simulator): string[] => ledger.acceptedStarts().map(({ answered }) => answered);

describe("a start", () => {
  test("that is delivered is recorded in the ledger with its details", async () => {
    const { simulator, start } = await openResearch();
    const { id } = await start();
    expect(simulator.ledger.acceptedStarts()).toEqual([
      {
        id,
        query: START.input,
        agent: START.agent,
        labels: START.labels,
        key: keyFingerprint(KEY),
        at: expect.closeTo(Date.now(), -4),
        answered: "delivered",
      },
    ]);
    expect(simulator.ledger.entries()).toMatchObject([{ method: "POST", question: START.input, served: "accepted" }]);
    expect(JSON.stringify([simulator.ledger.acceptedStarts(), simulator.ledger.entries()])).not.toContain(KEY);
  });

  test.each<[CreateFault, object]>([
    ["accept-then-reset", { name: "APIConnectionError" }],
    ["accept-then-500", { status: 500 }],
    ["accept-then-malformed", {}],
    ["accept-then-html", {}],
    ["reset-mid-body", {}],
    ["short-body", {}],
    ["short-gzip", {}],
    ["malformed-json", {}],
  ])("with `%s` fails, and is charged exactly once", async (fault, error) => {
    const { simulator, start } = await openResearch({ create: [{ fault }] });
    await expect(start()).rejects.toMatchObject(error);
    expect(answersOf(simulator)).toEqual(["cut"]);
    expect(simulator.ledger.interactionRequests()).toEqual({ [`create ${fault}`]: 1 });
  });

  test("with `accept-then-hang` is charged once, and ends when its client disconnects", async () => {
    const { simulator } = await openResearch({ create: [{ fault: "accept-then-hang" }] });
    await abortAcceptedStart(simulator);
    await expect.poll(() => simulator.ledger.entries()[0]?.outcome).toBe("aborted");
    expect(answersOf(simulator)).toEqual(["cut"]);
  });

  test("whose client disconnects before a slow answer is charged", async () => {
    const { simulator } = await openResearch({ create: [{ latency_ms: 5000 }] });
    await abortAcceptedStart(simulator);
    expect(answersOf(simulator)).toEqual(["cut"]);
  });

  test("that arrives slowly is delivered when it is complete", async () => {
    const { simulator } = await openResearch({ create: [{ fault: "slow-drip" }] });
    const response = await rawStart(simulator);
    expect(answersOf(simulator)).toEqual(["cut"]);
    expect(await response.json()).toMatchObject({ status: "in_progress" });
    expect(answersOf(simulator)).toEqual(["delivered"]);
  });

  test("as a stream is delivered with its first event", async () => {
    const { simulator, startStreaming } = await openResearch();
    for await (const event of await startStreaming()) {
      expect(event.event_type).toBe("interaction.created");
      break;
    }
    expect(answersOf(simulator)).toEqual(["delivered"]);
  });

  test.each<[CreateFault, object]>([
    ["http-400", { status: 400 }],
    ["http-408", { status: 408 }],
    ["http-409", { status: 409 }],
    ["http-413", { status: 413 }],
    ["http-429", { status: 429 }],
    ["http-502", { status: 502 }],
    ["http-503", { status: 503 }],
    ["http-504", { status: 504 }],
    ["reset-before", { name: "APIConnectionError" }],
    ["html-200", {}],
    ["empty-200", {}],
  ])("with `%s` fails and costs nothing", async (fault, error) => {
    const { simulator, start } = await openResearch({ create: [{ fault }] });
    await expect(start()).rejects.toMatchObject(error);
    expect(answersOf(simulator)).toEqual([]);
  });

  test("the SDK does not notice an answer of another shape", async () => {
    const { start } = await openResearch({ create: [{ fault: "wrong-json" }] });
    expect(await start()).toMatchObject({ greeting: "hello", steps: [] });
  });

  test("the n-th start follows the n-th scripted life", async () => {
    const create = [{ fault: "http-503" as const }, { life: { status: "failed" } }, {}];
    const { start, poll } = await openResearch({ duration_ms: 0, create });
    await expect(start()).rejects.toMatchObject({ status: 503 });
    const lives = [await start(), await start(), await start()].map(async ({ id }) => (await poll(id)).status);
    expect(await Promise.all(lives)).toEqual(["failed", "completed", "completed"]);
  });
});

describe("a request", () => {
  test("gets the n-th step of its kind and interaction", async () => {
    const { simulator, start, poll, stream, cancel } = await openResearch({
      get: [{ fault: "http-403" }, { fault: "reset-before" }, {}],
      stream: [{ fault: "http-500" }],
      cancel: [{ fault: "http-503" }, {}],
    });
    const [one, two] = [await start(), await start()];
    await expect(poll(one.id)).rejects.toMatchObject({ status: 403 });
    await expect(poll(one.id)).rejects.toMatchObject({ name: "APIConnectionError" });
    expect((await poll(one.id)).status).toBe("in_progress");
    await expect(poll(two.id)).rejects.toMatchObject({ status: 403 });
    await expect(stream(one.id)).rejects.toMatchObject({ status: 500 });
    await expect(cancel(one.id)).rejects.toMatchObject({ status: 503 });
    expect((await poll(one.id)).status).toBe("in_progress");
    await cancel(one.id);
    expect((await poll(one.id)).status).toBe("cancelled");
    expect(simulator.ledger.interactionRequests()).toEqual({
      "create accepted": 2,
      "get http-403": 2,
      "get reset-before": 1,
      "get in_progress": 2,
      "get cancelled": 1,
      "stream http-500": 1,
      "cancel http-503": 1,
      "cancel cancelled": 1,
    });
    const { polls, streams, cancels } = simulator.ledger.trafficOf(one.id);
    expect([polls.length, streams.length, cancels.length]).toEqual([5, 1, 2]);
  });

  test.each([7, "Wed, 21 Oct 2026 07:28:00 GMT", "-1"])(
    "can be answered with a retry after %s",
    async (retry_after) => {
      const step = [{ fault: "http-429" as const, retry_after }];
      const { simulator, start } = await openResearch({ get: step, cancel: step, delete: step, stream: step });
      const { id } = await start();
      const url = `${simulator.url}/v1beta/interactions/${id}`;
      const headers = { "x-goog-api-key": KEY };
      for (const [method, path] of [
        ["GET", ""],
        ["GET", "?stream=true"],
        ["POST", "/cancel"],
        ["DELETE", ""],
      ] as const) {
        const response = await fetch(url + path, { method, headers });
        expect([response.status, response.headers.get("retry-after")]).toEqual([429, String(retry_after)]);
      }
    },
  );
});

describe("another process", () => {
  test("can read the ledger, advance the clock, and reset", async () => {
    const { simulator, start, poll } = await openResearch();
    const control = (path: string, body?: string): Promise<Response> =>
      fetch(`${simulator.url}/__simulator/${path}`, body === undefined ? {} : { method: "POST", body });
    const [one, two] = [await start(), await start({ input: "Two" })];
    expect((await control("skip", String(WHOLE_MS))).status).toBe(200);
    expect((await poll(two.id)).status).toBe("completed");
    const counts = { streams: 0, cancels: 0, deletes: 0 };
    expect(await (await control("starts")).json()).toMatchObject({
      count: 2,
      starts: [
        { id: one.id, answered: "delivered", polls: 0, ...counts },
        { id: two.id, query: "Two", polls: 1, ...counts },
      ],
      requests: { "create accepted": 2, "get completed": 1 },
    });
    expect(await (await control("starts?from=1")).json()).toMatchObject({ count: 2, starts: [{ id: two.id }] });
    expect(await (await control(`traffic/${two.id}`)).json()).toMatchObject({
      polls: [expect.any(Number)],
      streams: [],
    });
    await control("reset", "");
    await expect(poll(two.id)).rejects.toMatchObject({ status: 404 });
    expect(simulator.ledger.acceptedStarts()).toEqual([]);
  });
});

describe("a state file", () => {
  test("lets the next simulator continue, however the last one ended", async () => {
    const folder = await mkdtemp(join(tmpdir(), "simulator-state-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const stateFile = join(folder, "runs.jsonl");
    const scenario = { name: "state", interactions: { create: [{}, { life: { status: "failed" } }, {}] } };
    const first = await startSimulator({ stateFile, scenario });
    const before = clientOf(first);
    const [good, bad, gone, stopped] = [
      await before.start(),
      await before.start(),
      await before.start(),
      await before.start(),
    ];
    await before.remove(gone.id);
    await before.cancel(stopped.id);
    first.skip(WHOLE_MS);
    const report = (await before.poll(good.id)).output_text;
    const starts = structuredClone(first.ledger.acceptedStarts());
    await first.close();
    await appendFile(stateFile, '{"event":"start","id":"v1_half');

    for (const round of [1, 2]) {
      const next = await startSimulator({ stateFile });
      const after = clientOf(next);
      expect(next.ledger.acceptedStarts().slice(0, 4)).toEqual(starts);
      expect((await after.poll(good.id)).output_text).toBe(report);
      expect((await after.poll(bad.id)).status).toBe("failed");
      expect((await after.poll(stopped.id)).status).toBe("cancelled");
      await expect(after.poll(gone.id)).rejects.toMatchObject({ status: 404 });
      await after.start();
      expect(next.ledger.acceptedStarts()).toHaveLength(4 + round);
      if (round === 2) await fetch(`${next.url}/__simulator/reset`, { method: "POST" });
      await next.close();
    }
    const fresh = await startSimulator({ stateFile });
    expect(fresh.ledger.acceptedStarts()).toEqual([]);
    await fresh.close();
  });
});
