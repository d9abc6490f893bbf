/** Runs addresses through the guard with a fake DNS: whether a request reaches a server, and what was dialled. */

import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  setDefaultCACertificates,
  TLSSocket,
} from "node:tls";
import { z } from "zod";
import type { Network } from "../../../src/pages/guard/dial.ts";
import { PAGE_LIMITS } from "../../../src/pages/page.ts";
import { followRedirects } from "../../../src/pages/transport/request.ts";
import { createHostQueue } from "../../../src/pages/transport/host-queue.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { isPublicAddress } from "../../../src/platform/public-address.ts";
import { makeCertificateOf } from "../services/certificate.ts";

const dns = z.record(z.string(), z.array(z.string()));
const guardCase = z.looseObject({
  id: z.string(),
  url: z.string(),
  dns: dns.optional(),
  /** From the second lookup of a name on. */
  dns_later: dns.optional(),
  /** Where the server redirects the address to. */
  redirect: z.string().optional(),
  expected: z.enum(["allow", "refuse"]),
  reason: z.string(),
});
export type GuardCase = z.infer<typeof guardCase>;

export const readGuardCases = (file: string): GuardCase[] =>
  z.array(guardCase).parse(JSON.parse(readFileSync(file, "utf8")));

export interface GuardResult {
  found: "allow" | "refuse";
  /** The reason of a refusal. */
  reason: string;
  /** An address was dialled that only a later lookup returned. */
  isRebound: boolean;
}

/** A server on loopback answers for every address that the guard dials. */
export async function runGuardCase(one: GuardCase): Promise<GuardResult> {
  const server = await startServer(one);
  const dialled = new Set<string>();
  const lookups = new Map<string, number>();
  const network: Network = {
    lookup: (host) => {
      const count = (lookups.get(host) ?? 0) + 1;
      lookups.set(host, count);
      const addresses = (count > 1 ? one.dns_later?.[host] : undefined) ?? one.dns?.[host];
      if (addresses !== undefined) return Promise.resolve(addresses);
      return Promise.reject(Object.assign(new Error(`ENOTFOUND ${host}`), { code: "ENOTFOUND" }));
    },
    isPublic: isPublicAddress,
    connect: (address) => {
      dialled.add(address);
      return Object.defineProperty(connect(server.port, "127.0.0.1"), "remoteAddress", { value: address });
    },
  };
  const hosts = createHostQueue(systemClock, { hostIntervalMs: 0, concurrentHosts: 1 });
  const deps = { network, limits: { ...PAGE_LIMITS, fetchMs: 5_000 }, hosts };
  try {
    const followed = await followRedirects(one.url, deps, new AbortController().signal);
    const isRebound = Object.values(one.dns_later ?? {}).some((later) => later.some((address) => dialled.has(address)));
    if ("response" in followed) return { found: "allow", reason: "", isRebound };
    const { error } = followed;
    return { found: "refuse", reason: error instanceof Error ? error.message : "unknown", isRebound };
  } finally {
    server.close();
  }
}

/** Speaks TLS with the certificate of any name, or HTTP, as the first byte asks for. */
async function startServer(one: GuardCase): Promise<{ port: number; close(): void }> {
  const first = URL.canParse(one.url) ? new URL(one.url) : undefined;
  const contexts = trustedContexts([one.url, one.redirect ?? ""]);
  const http = createHttpServer((request, response) => {
    const isFirst = request.headers.host === first?.host && request.url === `${first?.pathname}${first?.search}`;
    if (isFirst && one.redirect !== undefined) response.writeHead(302, { location: one.redirect }).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<p>Reached.</p>");
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("readable", () => {
      const head: Buffer | null = socket.read();
      if (head !== null) socket.unshift(head);
      const opened = head?.[0] === 0x16 ? new TLSSocket(socket, { isServer: true, ...contexts }) : socket;
      opened.on("error", () => undefined);
      http.emit("connection", opened);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Trusted by this process from now on. */
function trustedContexts(urls: readonly string[]) {
  const hosts = urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname.replace(/\.$/, ""));
  const certificates = new Map([...hosts, "none"].map((host) => [host, makeCertificateOf(host)]));
  setDefaultCACertificates([...getCACertificates("default"), ...[...certificates.values()].map(({ cert }) => cert)]);
  const contextOf = (host: string) => createSecureContext(certificates.get(host) ?? certificates.get("none"));
  return {
    secureContext: contextOf(hosts[0] ?? "none"),
    SNICallback: (host: string, done: (error: Error | null, context?: SecureContext) => void) =>
      done(null, contextOf(host)),
  };
}
