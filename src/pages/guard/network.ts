/** The network as the guard uses it: name lookup, the decision about addresses, and connections to literal addresses. */

import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { isPublicAddress } from "../../platform/public-address.ts";

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
