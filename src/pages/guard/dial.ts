/**
 * Connects to the host of a checked URL: one lookup, every address public, the literal address dialled and compared
 * with the peer. A name that changes its address in between has no effect, because it is not looked up again.
 */

import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { BlockList, connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { abortable } from "../page.ts";
import { isLocalName, isPublicAddress } from "../../platform/public-address.ts";

/** A host whose first address is dead has others; more than three only cost time. */
const MAX_ADDRESSES = 3;
const CONNECT_TIMEOUT_MS = 5_000;

export async function dial(checked: CheckedUrl, network: Network, signal: AbortSignal): Promise<Socket> {
  const addresses = await resolveHost(checked, network, signal);
  const socket = await connectToFirst(addresses, { port: checked.port, network, signal });
  return checked.isTls ? await secure(socket, checked, signal) : socket;
}

async function resolveHost(
  { host, isLiteral }: CheckedUrl,
  network: Network,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = isLiteral ? [host] : await abortable(network.lookup(host), signal);
  // One private address among public ones is how a rebinding name is built.
  if (!addresses.every((address) => isIP(address) !== 0 && network.isPublic(address))) {
    throw new RefusedError("private");
  }
  if (addresses.length === 0) throw Object.assign(new Error("No address."), { code: "ENOTFOUND" });
  return addresses.slice(0, MAX_ADDRESSES);
}

interface Connecting {
  port: number;
  network: Network;
  signal: AbortSignal;
}

async function connectToFirst(addresses: readonly string[], connecting: Connecting): Promise<Socket> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await connectTo(address, connecting);
    } catch (error) {
      if (error instanceof RefusedError) throw error;
      connecting.signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

async function connectTo(address: string, { port, network, signal }: Connecting): Promise<Socket> {
  const socket = network.connect(address, port);
  try {
    await once(socket, "connect", { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]) });
    if (!isSameAddress(address, socket.remoteAddress)) throw new RefusedError("peer");
    return socket;
  } catch (error) {
    destroy(socket);
    throw error;
  }
}

/** Compared as addresses: one IPv6 address has several spellings. */
function isSameAddress(dialled: string, peer: string | undefined): boolean {
  if (peer === undefined || isIP(peer) === 0) return false;
  const list = new BlockList();
  list.addAddress(dialled, isIP(dialled) === 4 ? "ipv4" : "ipv6");
  return list.check(peer, isIP(peer) === 4 ? "ipv4" : "ipv6");
}

async function secure(socket: Socket, { host, isLiteral }: CheckedUrl, signal: AbortSignal): Promise<Socket> {
  const tls = connectTls({
    socket,
    // A server name must not be an address; the certificate is then checked against `host`.
    ...(isLiteral ? { host } : { host, servername: host }),
    ALPNProtocols: ["http/1.1"],
    // Also if NODE_TLS_REJECT_UNAUTHORIZED switches verification off for the process.
    rejectUnauthorized: true,
  });
  try {
    await once(tls, "secureConnect", { signal });
    return tls;
  } catch (error) {
    destroy(tls);
    destroy(socket);
    throw error;
  }
}

/** A socket that fails while it is being destroyed must not end the process with an unhandled error. */
function destroy(socket: Socket): void {
  socket.on("error", () => undefined);
  socket.destroy();
}

// Checks what can be decided from a URL alone: scheme, credentials, port and host.

const MAX_URL_CHARACTERS = 4_096;
const PORTS: readonly number[] = [80, 443, 8080, 8443];

export interface CheckedUrl {
  url: URL;
  /** Without brackets and without the dot that ends a fully qualified name. */
  host: string;
  isLiteral: boolean;
  port: number;
  isTls: boolean;
}

/**
 * Throws `RefusedError`. An address literal is checked like the result of a lookup, by `resolveHost`. A private address may
 * have any name and port.
 */
export function checkUrl(text: string, { isPrivate = false } = {}): CheckedUrl {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text)) throw new RefusedError("address");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new RefusedError("scheme");
  if (url.username !== "" || url.password !== "") throw new RefusedError("credentials");
  const isTls = url.protocol === "https:";
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  if (!isPrivate && !PORTS.includes(port)) throw new RefusedError("port");
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const isLiteral = isIP(host) !== 0;
  if (!isPrivate && !isLiteral && isLocalName(host)) throw new RefusedError("name");
  return { url, host, isLiteral, port, isTls };
}

// Why a request to an address is not made.

const REFUSALS = {
  address: "The address is not a valid web address.",
  scheme: "Only http and https addresses are fetched.",
  insecure: "The address must begin with https://.",
  credentials: "The address contains a user name or password.",
  port: "The address names a port that is not used for web pages.",
  name: "The host name does not belong to the public Internet.",
  private: "The address leads to a private or reserved network.",
  peer: "The connection did not reach the address that was checked.",
} as const;

export type Refusal = keyof typeof REFUSALS;

/** Thrown by the guard. Its message is a sentence of this program. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(REFUSALS[refusal]);
    this.refusal = refusal;
  }
}

// The network as the guard uses it: name lookup, the decision about addresses, and connections to literal addresses.

/**
 * A parameter, so that tests can map names to servers on loopback. No setting replaces it: the product has only
 * `publicNetwork`.
 */
export interface Network {
  lookup(host: string): Promise<string[]>;
  isPublic(address: string): boolean;
  /** Starts to connect. `address` is a literal: connecting must not look up anything. */
  connect(address: string, port: number): Socket;
}

export const publicNetwork: Network = {
  lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
  connect: (address, port) => connect({ host: address, port, noDelay: true }),
};
