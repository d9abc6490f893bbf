import { createServer, type RequestListener } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { agentAt, never, start } from "../../../test/kit/simulator/agent-stage.ts";
import { guardedFetch, withTimeLimit } from "./guarded-fetch.ts";

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
    const response = await fetcher(new Request(url, { signal }).clone());
    const body = response.text();
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
  await expect((await fetcher("http://host.invalid")).text()).rejects.toMatchObject({ name: "ResponseTooLarge" });
  expect(pulled).toBeLessThan(20);
});
