/** The usual proxy variables: every request to Google goes through the proxy unless NO_PROXY excludes it. */

import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test, type TestContext } from "vitest";
import { openResearch, QUERY, startRun, untilStatus } from "../kit/server/research.ts";

/** Forwards to loopback and nowhere else. */
async function openProxy({ onTestFinished }: Pick<TestContext, "onTestFinished">) {
  const passed: string[] = [];
  const server = createServer((request, response) => {
    const target = new URL(request.url ?? "");
    passed.push(`${request.method} ${target.pathname}`);
    if (target.hostname !== "127.0.0.1") {
      response.writeHead(502).end();
      return;
    }
    const { method, headers } = request;
    const forward = httpRequest(target, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forward.on("error", () => response.destroy());
    request.pipe(forward);
  });
  server.on("connect", (request, socket, head) => {
    passed.push(`CONNECT ${request.url}`);
    const [host = "", port] = (request.url ?? "").split(":");
    if (host !== "127.0.0.1") {
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      return;
    }
    const tunnel = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      tunnel.write(head);
      tunnel.pipe(socket).pipe(tunnel);
    });
    tunnel.on("error", () => socket.destroy());
    socket.on("error", () => tunnel.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, passed };
}

test("searches and research go through HTTP_PROXY, and NO_PROXY leaves it out (B7)", async (context) => {
  const scene = await openResearch(context);
  const proxy = await openProxy(context);
  const server = await scene.server({ env: { HTTP_PROXY: proxy.url, NO_PROXY: "" } });
  expect((await server.call("search", { query: QUERY })).isError).toBe(false);
  expect(proxy.passed.length).toBeGreaterThan(0);
  const afterSearch = proxy.passed.length;
  await untilStatus(server, await startRun(server), "completed");
  expect(proxy.passed.length).toBeGreaterThan(afterSearch);
  const known = proxy.passed.length;
  const direct = await scene.server({ env: { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1" } });
  expect((await direct.call("search", { query: QUERY })).isError).toBe(false);
  expect(proxy.passed.length).toBe(known);
});
