/**
 * Connects to the host of a checked URL: one lookup, every address public, the literal address dialled and compared
 * with the peer. A name that changes its address in between has no effect, because it is not looked up again.
 */

import { once } from "node:events";
import { BlockList, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { abortable } from "../abortable.ts";
import type { CheckedUrl } from "./check-url.ts";
import type { Network } from "./network.ts";
import { RefusedError } from "./refusal.ts";

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
