/** A connection to Google on which one kind of request fails in one way, until it is healed. */

import { createServer, type Server } from "node:net";
import * as tls from "node:tls";
import type { Fetch } from "../../src/gemini/transport/guarded-fetch.ts";
import { NotSent, sendOnce, type SendOnce } from "../../src/gemini/paid-start/send-once.ts";
import { makeExpiredCertificate } from "../kit/services/certificate.ts";
import type { Interactions } from "../kit/server/research.ts";
import type { Cause, FaultyRequest } from "./fault-cells.ts";
import { UNRESOLVABLE_HOST } from "../kit/services/unresolvable-host.ts";

export interface FaultyConnection {
  fetch: Fetch;
  /** Sends paid starts. */
  sendOnce: SendOnce;
  /** The number of requests sent or attempted, by kind. */
  sent: Record<FaultyRequest, number>;
  heal(): void;
  close(): void;
}

export async function openFaultyConnection(cause: Cause, request: FaultyRequest): Promise<FaultyConnection> {
  const target = cause.kind === "other target" ? await TARGETS[cause.target]() : undefined;
  const sent = { create: 0, get: 0, cancel: 0, stream: 0 };
  let healed = false;
  return {
    sent,
    fetch: async (input, init) => {
      const asked = input instanceof Request ? input : new Request(input, init);
      const kind = kindOf(asked);
      sent[kind] += 1;
      if (!healed && kind === request && cause.kind === "thrown") throw connectFault(cause);
      const usesTarget = !healed && kind === request && target !== undefined;
      // Passes `init` as well: a Request may lose its link to the caller's signal when that one is garbage collected.
      return fetch(usesTarget ? await sentTo(asked, target.url) : input, init);
    },
    sendOnce: (asked) => {
      sent.create += 1;
      const isFaulty = !healed && request === "create";
      if (isFaulty && cause.kind === "thrown") throw new NotSent(connectFault(cause), asked.url.host);
      if (!isFaulty || target === undefined) return sendOnce(asked);
      return sendOnce({ ...asked, url: new URL(asked.url.pathname + asked.url.search, target.url) });
    },
    heal: () => {
      healed = true;
    },
    close: () => void target?.server?.close(),
  };
}

/** The fault as a scenario of the simulator; empty if it is produced without the simulator. */
export function scenarioOf(cause: Cause, request: FaultyRequest): Interactions {
  if (cause.kind === "other target" || cause.kind === "thrown") return {};
  const retry_after = cause.kind === "answer" ? cause.retryAfter?.() : undefined;
  const fault = request === "create" ? (cause.create ?? cause.fault) : cause.fault;
  return { [request]: [{ fault, ...(retry_after !== undefined && { retry_after }) }] };
}

function kindOf({ method, url }: Request): FaultyRequest {
  if (method === "POST") return url.endsWith("/cancel") ? "cancel" : "create";
  return new URL(url).searchParams.get("stream") === "true" ? "stream" : "get";
}

/** The error in the form of Node's fetch. */
function connectFault({ code, syscall }: Cause & { kind: "thrown" }): TypeError {
  const cause = Object.assign(new Error(`${syscall ?? "connect"} ${code}`), { code, ...(syscall && { syscall }) });
  return new TypeError("fetch failed", { cause });
}

async function sentTo(asked: Request, base: string): Promise<Request> {
  const { pathname, search } = new URL(asked.url);
  const body = asked.method === "POST" ? await asked.text() : undefined;
  const { method, headers } = asked;
  return new Request(new URL(pathname + search, base), { method, headers, ...(body !== undefined && { body }) });
}

interface Target {
  url: string;
  server?: Server;
}

const TARGETS: Record<(Cause & { kind: "other target" })["target"], () => Promise<Target>> = {
  "no such host": async () => ({ url: `http://${UNRESOLVABLE_HOST}` }),
  "closed port": async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    return { url: `http://127.0.0.1:${port}` };
  },
  reset: async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.resetAndDestroy());
    });
    return { url: `http://127.0.0.1:${await listen(server)}`, server };
  },
  "expired certificate": async () => {
    const certificate = makeExpiredCertificate();
    trust(certificate.cert);
    const server = tls.createServer(certificate);
    // The client reports why it disconnects.
    server.on("tlsClientError", () => {});
    return { url: `https://127.0.0.1:${await listen(server)}`, server };
  },
};

/** Trusts the certificate where Node.js allows it, so that it is rejected only for its date. */
function trust(cert: string): void {
  if ("setDefaultCACertificates" in tls) tls.setDefaultCACertificates([...tls.getCACertificates("default"), cert]);
}

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
