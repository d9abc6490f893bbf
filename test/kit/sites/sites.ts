/** Web sites on loopback, reached by the page reader under public names. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { onTestFinished } from "vitest";
import type { Network } from "../../../src/pages/guard/dial.ts";
import { isPublicAddress } from "../../../src/platform/public-address.ts";
import { makeCertificateOf } from "../services/certificate.ts";
import { listen } from "./listen.ts";

/** Stands for a public address: the one address of loopback that the network below accepts. */
const SITE_ADDRESS = "127.0.0.1";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface Sites {
  network: Network;
  /** `host path` of every request, with the time of its arrival and of the end of its response. */
  requests: { target: string; at: number; endedAt: number | undefined; userAgent: string }[];
  lookups: string[];
  /** Replaces the addresses of a name. */
  point(host: string, addresses: (() => string[]) | string[]): void;
}

/** Pages by `host/path`; `host/robots.txt` is missing unless it is given. */
export async function openSites(pages: Readonly<Record<string, Handler>>): Promise<Sites> {
  const requests: Sites["requests"] = [];
  const lookups: string[] = [];
  const pointed = new Map<string, (() => string[]) | string[]>();
  const answer: Handler = (request, response) => {
    const target = `${request.headers.host ?? ""}${request.url ?? ""}`;
    const entry: Sites["requests"][number] = {
      target,
      at: performance.now(),
      endedAt: undefined,
      userAgent: request.headers["user-agent"] ?? "",
    };
    requests.push(entry);
    response.on("close", () => (entry.endedAt = performance.now()));
    const handler = pages[target] ?? pages[target.replace(/\?.*/, "")];
    if (handler === undefined) response.writeHead(404).end("<title>Not found</title>");
    else handler(request, response);
  };
  const plain = createServer(answer);
  const secured = createTlsServer(makeSiteCertificate(), answer);
  const [port, tlsPort] = [await listen(plain), await listen(secured)];
  return {
    requests,
    lookups,
    point: (host, addresses) => void pointed.set(host, addresses),
    network: {
      lookup: (host) => {
        lookups.push(host);
        const addresses = pointed.get(host) ?? [SITE_ADDRESS];
        return Promise.resolve(typeof addresses === "function" ? addresses() : addresses);
      },
      isPublic: (address) => address === SITE_ADDRESS || isPublicAddress(address),
      connect: (address, to) => connect({ host: address, port: to === 443 || to === 8443 ? tlsPort : port }),
    },
  };
}

/** The host of the one site whose certificate is trusted. */
export const SECURE_HOST = "secure.site-a.org";

function makeSiteCertificate(): ReturnType<typeof makeCertificateOf> {
  const certificate = makeCertificateOf(SECURE_HOST);
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, certificate.cert]);
  onTestFinished(() => setDefaultCACertificates(before));
  return certificate;
}

export const html =
  (body: string, headers: Record<string, string> = {}, status = 200): Handler =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers }).end(body);

export const redirect =
  (location: string, status = 302): Handler =>
  (_request, response) =>
    void response.writeHead(status, { location }).end();
