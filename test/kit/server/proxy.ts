/** An HTTP proxy on loopback that records what passes through it. */

import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { TestContext } from "vitest";

/** Forwards to loopback and nowhere else. With an upstream, it is a reverse proxy that stands in front of it. */
export async function openProxy({ onTestFinished }: Pick<TestContext, "onTestFinished">, upstream?: string) {
  const passed: string[] = [];
  const server = createServer((request, response) => {
    const target = new URL(request.url ?? "", upstream);
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
