import { createServer, type RequestListener } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { agentAt, never, start } from "../../../test/kit/simulator/agent-stage.ts";
import { guardedFetch, limitResponse, withTimeLimit } from "./guarded-fetch.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

/** Runs the garbage collector, as a busy process does sooner or later. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

test("no request follows a redirect with the key, whatever it requests (T9)", async () => {
  const leaked: unknown[] = [];
  const otherHost = await serve((request, response) => {
    leaked.push(request.headers["x-goog-api-key"]);
    response.end("{}");
  });
  const base = await serve((request, response) => {
    response.writeHead(307, { location: otherHost + request.url }).end();
  });
  const { agent } = agentAt(base);
  expect(await start(agent)).toMatchObject({ kind: "unknown" });
  expect(await agent.poll("v1_abc", never)).toMatchObject({ kind: "unreachable" });
  expect(await agent.cancel("v1_abc", never)).toMatchObject({ kind: "unreachable" });
  await agent.stream({ interactionId: "v1_abc", lastEventId: undefined, signal: never, onEvent: () => {} });
  expect(leaked).toEqual([]);
});

test("a slow body is ended by the time limit, even when the SDK's copy of the request was collected (T16)", async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serve((_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(" "), 10);
    response.once("close", () => {
      clearInterval(drip);
      closed.resolve();
    });
  });
  const giveUp = new AbortController();
  const fetcher = guardedFetch(fetch, 1_000_000);
  const reading = withTimeLimit(60_000, giveUp.signal, async (signal) => {
    // The SDK passes a copy of its request, too.
    const body = fetcher(new Request(url, { signal }).clone());
    for (let times = 0; times < 5; times += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      collectGarbage();
    }
    giveUp.abort();
    return body;
  });
  await expect(reading).rejects.toThrow();
  await closed.promise;
});

test("an answer is read up to the limit and no further (T16)", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(new Uint8Array(1_000));
    },
  });
  const fetcher = guardedFetch(async () => new Response(endless), 10_000);
  await expect(fetcher("http://host.invalid")).rejects.toMatchObject({ name: "ResponseTooLarge" });
  expect(pulled).toBeLessThan(20);
});

const LIMITS = { maxBytes: 100, maxEventBytes: 20 };
const STREAM = { "content-type": "text/event-stream" };

/** A body in pieces, as a network delivers it. */
const answer = (pieces: string[], headers: Record<string, string> = {}): Response =>
  new Response(ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))), { status: 203, headers });

test("an answer within the limits is passed through unchanged", async () => {
  const response = await limitResponse(answer(["x".repeat(60), "y".repeat(40)], { "x-kept": "yes" }), LIMITS);
  expect(response.status).toBe(203);
  expect(response.headers.get("x-kept")).toBe("yes");
  expect(await response.text()).toBe("x".repeat(60) + "y".repeat(40));
});

test("a larger answer is aborted with a sentence of ours, whatever its content (T16)", async () => {
  for (const headers of [{}, STREAM]) {
    const events = Array.from({ length: 20 }, () => "data: x\n\n");
    const reading = limitResponse(answer(events, headers), LIMITS).then((response) => response.text());
    await expect(reading).rejects.toMatchObject({ code: "EXECUTION_ERROR" });
  }
});

test("a stream with an endless event is aborted; one with many events is not (T16)", async () => {
  const long = await limitResponse(answer(["data: x\n\n", "data: ", "y".repeat(10), "y".repeat(10)], STREAM), LIMITS);
  await expect(long.text()).rejects.toMatchObject({ code: "EXECUTION_ERROR" });
  for (const end of ["\n\n", "\r\n\r\n"]) {
    const short = Array.from({ length: 7 }, () => `data: x${end}`);
    expect(await (await limitResponse(answer(short, STREAM), LIMITS)).text()).toBe(short.join(""));
  }
});

test("an answer without a body is passed through", async () => {
  const empty = new Response(null, { status: 204 });
  expect(await limitResponse(empty, LIMITS)).toBe(empty);
});
