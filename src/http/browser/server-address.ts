/** The addresses (`host:port`) of a server, for links that are valid at one server only. */

import { networkInterfaces } from "node:os";
import { urlHost } from "../host-guard.ts";

/** A server can listen on a wildcard address, but a browser cannot open one. */
const WILDCARDS: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
const LOOPBACK = ["127.0.0.1", "::1", "localhost"];

export const pageUrl = (host: string, port: number): string => `http://${urlHost(WILDCARDS[host] ?? host)}:${port}`;

/** The `host:port` that a link is stored with. */
export const addressOf = (url: string): string => new URL(url).host.toLowerCase();

/** Every address at which a server on this host and port can be reached from this machine, the preferred one first. */
export function addressesOf(host: string, port: number): string[] {
  const hosts = host in WILDCARDS ? [host, ...LOOPBACK, ...interfaceAddresses(host)] : [host, ...namesOf(host)];
  return [...new Set(hosts.map((name) => addressOf(pageUrl(name, port))))];
}

function namesOf(host: string): string[] {
  if (host === "localhost") return LOOPBACK;
  return LOOPBACK.includes(host) ? ["localhost"] : [];
}

/** A wildcard includes every IP address of this machine, but no name, which could be rebound. */
export function interfaceAddresses(host: string): string[] {
  if (!(host in WILDCARDS)) return [];
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}
