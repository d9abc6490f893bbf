/** The addresses (`host:port`) of a server, for links that are good at one server only. */

import { networkInterfaces } from "node:os";
import { urlHost } from "../host-guard.ts";

/** A wildcard is an address to listen on, not one to go to. */
const WILDCARDS: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
const LOOPBACK = ["127.0.0.1", "::1", "localhost"];

export const pageUrl = (host: string, port: number): string => `http://${urlHost(WILDCARDS[host] ?? host)}:${port}`;

/** As a link names the server it is for. */
export const addressOf = (url: string): string => new URL(url).host.toLowerCase();

/** Every address at which a server that listens there can be reached from this machine; first the one to go to. */
export function addressesOf(host: string, port: number): string[] {
  const hosts = host in WILDCARDS ? [host, ...LOOPBACK, ...interfaceAddresses(host)] : [host, ...namesOf(host)];
  return [...new Set(hosts.map((name) => addressOf(pageUrl(name, port))))];
}

function namesOf(host: string): string[] {
  if (host === "localhost") return LOOPBACK;
  return LOOPBACK.includes(host) ? ["localhost"] : [];
}

/** The wildcard stands for every address of this machine; a rebound name is not among them. */
export function interfaceAddresses(host: string): string[] {
  if (!(host in WILDCARDS)) return [];
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}
