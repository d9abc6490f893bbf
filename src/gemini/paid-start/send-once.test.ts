/** A paid request as seen by a loopback server: one connection, one request, no byte before the last check. */

import http, { createServer, type RequestListener } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { agentAt, never, start } from "../../../test/kit/simulator/agent-stage.ts";
import { AppError } from "../../errors.ts";
import { NotSent, type SingleRequest, sendOnce, Withheld } from "./send-once.ts";

const ACCEPTED = JSON.stringify({ id: "v1_a", status: "in_progress" });

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Keeps connections alive as Google does, and counts what arrives on them. */
async function serve(answer: RequestListener) {
  const seen = { connections: 0, requests: 0, bytes: 0 };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    seen.requests += 1;
    request.resume().once("end", () => answer(request, response));
  });
  server.on("connection", (socket) => {
    seen.connections += 1;
    socket.on("data", (data) => (seen.bytes += data.length));
  });
  onTestFinished(() => server.closeAllConnections());
  return { url: await listen(server), seen };
}

const requestTo = (url: string, more: Partial<SingleRequest> = {}): SingleRequest => ({
  url: new URL(url),
  method: "POST",
  headers: new Headers({ "content-type": "application/json", "x-goog-api-key": "a-key" }),
  body: Buffer.from('{"input":"日本"}'),
  signal: never,
  environment: {},
  checkBeforeSending: async () => undefined,
  maxResponseBytes: 1_000,
  ...more,
});

describe("a paid request", () => {
  test("that is answered with 421 is not sent again (I8)", async () => {
    const { url, seen } = await serve((_request, response) => void response.writeHead(421).end());
    expect(await start(agentAt(url).agent)).toEqual({ kind: "unknown", why: "Google answered with HTTP 421." });
    expect(seen).toMatchObject({ connections: 1, requests: 1 });
  });

  test("does not use the connection that a poll left open, which may be stale (I8)", async () => {
    const ports: Record<string, Set<number | undefined>> = { GET: new Set(), POST: new Set() };
    const { url } = await serve((request, response) => {
      ports[request.method ?? ""]?.add(request.socket.remotePort);
      response.end(ACCEPTED);
    });
    const { agent } = agentAt(url);
    await agent.poll("v1_a", never);
    // By now the connection is idle, and fetch would reuse it.
    await new Promise((resolve) => void setTimeout(resolve, 100));
    expect(await start(agent)).toEqual({ kind: "accepted", interactionId: "v1_a" });
    expect(ports["POST"]?.size).toBe(1);
    expect([...(ports["POST"] ?? [])].filter((port) => ports["GET"]?.has(port))).toEqual([]);
  });

  test("connects first, and is checked before its first byte is written (I8)", async () => {
    const { url, seen } = await serve((_request, response) => void response.end(ACCEPTED));
    const atCheck: unknown[] = [];
    const checkBeforeSending = async (): Promise<undefined> => {
      await expect.poll(() => seen.connections).toBe(1);
      atCheck.push({ ...seen });
    };
    const { status, text } = await sendOnce(requestTo(url, { checkBeforeSending }));
    expect(atCheck).toEqual([{ connections: 1, requests: 0, bytes: 0 }]);
    expect({ status, text }).toEqual({ status: 200, text: ACCEPTED });
  });

  test("is withheld when the check fails: not a byte arrives (I8)", async () => {
    const { url, seen } = await serve((_request, response) => void response.end(ACCEPTED));
    const reason = new AppError({ code: "CANCELLED", message: "It was cancelled." });
    const sending = sendOnce(requestTo(url, { checkBeforeSending: async () => reason }));
    await expect(sending).rejects.toEqual(new Withheld(reason));
    expect(seen).toMatchObject({ requests: 0, bytes: 0 });
  });

  test("whose connection is closed during the check was not sent (I8)", async () => {
    const server = createTcpServer((socket) => void socket.on("error", () => {}).resetAndDestroy());
    const url = await listen(server);
    const checkBeforeSending = (): Promise<undefined> =>
      new Promise((resolve) => void setTimeout(() => resolve(undefined), 300));
    await expect(sendOnce(requestTo(url, { checkBeforeSending }))).rejects.toBeInstanceOf(NotSent);
  });

  test("whose connection breaks after it was written is not called unsent (I8)", async () => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.resetAndDestroy());
    });
    const fault = await sendOnce(requestTo(await listen(server))).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Error);
    expect(fault).not.toBeInstanceOf(NotSent);
  });

  test("is aborted by its signal, even while the answer is being read (I8)", async () => {
    const { url, seen } = await serve((_request, response) => void response.writeHead(200).write("{"));
    const controller = new AbortController();
    const sending = sendOnce(requestTo(url, { signal: controller.signal }));
    await expect.poll(() => seen.requests).toBe(1);
    setTimeout(() => controller.abort(), 50);
    expect(await sending).toMatchObject({ text: "{", cut: { message: "aborted" } });
  });

  test("reads a compressed answer, within its size limit (S4)", async () => {
    const { url } = await serve((request, response) => {
      const text = request.url === "/large" ? " ".repeat(100_000) : ACCEPTED;
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(text));
    });
    expect(await sendOnce(requestTo(url))).toMatchObject({ text: ACCEPTED });
    const tooLarge = { name: "ResponseTooLarge" };
    await expect(sendOnce(requestTo(`${url}/large`))).rejects.toMatchObject(tooLarge);
    expect(await sendOnce(requestTo(url, { maxResponseBytes: 10 }))).toMatchObject({ cut: tooLarge });
  });

  test.each<[string, RequestListener]>([
    ["without its final chunk", (_request, response) => void response.write(ACCEPTED, () => response.destroy())],
    [
      "before its announced length",
      (_request, response) =>
        void response.writeHead(200, { "content-length": 1_000 }).write(ACCEPTED, () => response.destroy()),
    ],
    [
      "without its gzip trailer",
      (_request, response) =>
        void response
          .writeHead(200, { "content-encoding": "gzip" })
          .write(gzipSync(ACCEPTED).subarray(0, -8), () => response.destroy()),
    ],
    [
      "without its Brotli end",
      (_request, response) =>
        void response
          .writeHead(200, { "content-encoding": "br" })
          .write(brotliCompressSync(ACCEPTED + " ".repeat(500)).subarray(0, -1), () => response.destroy()),
    ],
  ])("whose answer ends %s is accepted by the id in it (I8)", async (_end, answer) => {
    const { url, seen } = await serve(answer);
    expect(await start(agentAt(url).agent)).toEqual({ kind: "accepted", interactionId: "v1_a" });
    expect(seen.requests).toBe(1);
  });

  test.each([
    ['{"id":"v1_a', 200],
    ['{"id":"v1_a"', 500],
    ['{"steps":[{"id":"v1_step"},{"text":"\\"id\\": \\"v1_quoted', 200],
    ['["id":"v1_list"', 200],
    ['<p>{"id":"v1_page"', 200],
  ])("is unknown if its answer breaks off after %s (I8)", async (beginning, status) => {
    const { url } = await serve(
      (_request, response) => void response.writeHead(status).write(beginning, () => response.destroy()),
    );
    const why = "The connection broke after the request was sent.";
    expect(await start(agentAt(url).agent)).toEqual({ kind: "unknown", why });
  });

  test("uses the proxy of the environment, unless NO_PROXY names its host (B7)", async () => {
    const { url } = await serve((request, response) => void response.end(request.headers.host));
    const targets: string[] = [];
    const proxy = createTcpServer((socket) => {
      socket
        .on("error", () => {})
        .once("data", (data) => {
          targets.push(String(data).split("\r\n")[0] ?? "");
          const onward = connect(Number(new URL(url).port), "127.0.0.1", () => onward.write(data));
          onward.on("error", () => {}).pipe(socket);
          socket.pipe(onward);
        });
    });
    const environment = { HTTP_PROXY: await listen(proxy) };
    const target = `http://google.test:${new URL(url).port}/v1beta/interactions`;
    expect(await sendOnce(requestTo(target, { environment }))).toMatchObject({ status: 200 });
    expect(targets).toEqual([`POST ${target} HTTP/1.1`]);
    await sendOnce(requestTo(url, { environment: { ...environment, NO_PROXY: "127.0.0.1" } }));
    expect(targets).toHaveLength(1);
  });

  test("whose connection is refused leaves no timer that would delay the exit (I8)", async () => {
    const server = createTcpServer();
    const url = await listen(server);
    await new Promise((resolve) => void server.close(resolve));
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    await expect(sendOnce(requestTo(url))).rejects.toBeInstanceOf(NotSent);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  test("is not sent through a proxy that this Node's polls would bypass (B7)", async () => {
    const before = http.setGlobalProxyFromEnv;
    // As on Node 22.
    Object.assign(http, { setGlobalProxyFromEnv: undefined });
    syncBuiltinESMExports();
    onTestFinished(() => {
      Object.assign(http, { setGlobalProxyFromEnv: before });
      syncBuiltinESMExports();
    });
    const { url, seen } = await serve((_request, response) => void response.end(ACCEPTED));
    const startWith = (environment: Record<string, string>): Promise<unknown> =>
      start(agentAt(url, { environment }).agent);
    const proxied = { HTTP_PROXY: url };
    expect(await startWith(proxied)).toMatchObject({
      kind: "withheld",
      error: { suggestion: expect.stringContaining("Set NODE_USE_ENV_PROXY=1") },
    });
    expect(seen.connections).toBe(0);
    const passing = [
      { HTTPS_PROXY: url },
      { ...proxied, NO_PROXY: "google.test 127.0.0.1" },
      { ...proxied, no_proxy: `other,127.0.0.1:${new URL(url).port}` },
      { ...proxied, NO_PROXY: "*" },
      { ...proxied, NODE_USE_ENV_PROXY: "1" },
      { ...proxied, NODE_OPTIONS: "--no-warnings --use-env-proxy" },
    ];
    for (const environment of passing) expect(await startWith(environment)).toMatchObject({ kind: "accepted" });
  });
});
