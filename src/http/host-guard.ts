/**
 * Hosts and origins: allow-lists against DNS rebinding and against web pages of other origins, the check whether a request
 * comes from our own page, and the addresses at which this server can be reached.
 */

import { networkInterfaces } from "node:os";

/** A name or IP address with an optional port; nothing that a lenient URL parser would read differently. */
const HOST = /^(\[[0-9a-f:.]+\]|[^\s:/@\\?#[\]]+)(?::\d{1,5})?$/i;
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];
const LOOPBACK_NAMES = LOOPBACK.map(urlHost);

export interface Guard {
  allowsHost(host: string | undefined): boolean;
  /** A request without an Origin does not come from a web page. */
  allowsOrigin(origin: string | undefined): boolean;
}

/**
 * Compares host names without their ports: all ports of a host belong to the same machine. An entry with a scheme is an
 * origin, whose scheme and port count.
 */
export function createGuard(allowed: readonly string[]): Guard {
  const hostnames = new Set([...LOOPBACK_NAMES, ...allowed.map(hostnameOf).filter((name) => name !== undefined)]);
  const origins = new Set(allowed.map((entry) => entry.toLowerCase().replace(/\/$/, "")));
  const allowsHost = (host = ""): boolean => hostnames.has(hostnameOf(host) ?? "");
  return {
    allowsHost,
    allowsOrigin: (origin) => {
      if (origin === undefined || origins.has(origin.toLowerCase())) return true;
      const [, host] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
      return allowsHost(host);
    },
  };
}

const hostnameOf = (host: string): string | undefined => HOST.exec(host)?.[1]?.toLowerCase();

export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address);

/** As written in a URL and in a Host header. */
export function urlHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/**
 * A browser also sends the cookie with requests from a page on another port of the same host: for `SameSite`, all of
 * localhost is one site. `hono/csrf` is weaker: it lets every GET pass, and JSON of any origin.
 */
export interface OriginCheck {
  /** Whether Origin and Host match. The Host itself is checked by the host guard. */
  isSameOrigin(request: Request): boolean;
  /** Whether the request comes from our page, from the user, or from a program that is not a browser. */
  mayUsePage(request: Request): boolean;
}

export function createOriginCheck(publicUrl: string | undefined): OriginCheck {
  const publicOrigin = publicUrl === undefined ? undefined : URL.parse(publicUrl)?.origin;
  const isSameOrigin = ({ headers }: Request): boolean => {
    const origin = headers.get("origin");
    const host = (headers.get("host") ?? "").toLowerCase();
    // With "no-referrer", a form of our own page has the origin "null", but the browser marks it as same-origin.
    if (origin === "null") return headers.get("sec-fetch-site") === "same-origin";
    // Both schemes: only a proxy in front of us knows which one the browser used.
    return origin === `http://${host}` || origin === `https://${host}` || (origin !== null && origin === publicOrigin);
  };
  return {
    isSameOrigin,
    mayUsePage: (request) => {
      if (request.headers.has("origin") && !isSameOrigin(request)) return false;
      // Absent in old browsers, in other programs, and without TLS on addresses other than loopback.
      const site = request.headers.get("sec-fetch-site") ?? "none";
      return site === "none" || site === "same-origin" || isNavigation(request);
    },
  };
}

/** Allowed from any origin: a top-level GET navigation displays something and changes nothing. */
export function isNavigation({ method, headers }: Request): boolean {
  const destination = headers.get("sec-fetch-dest") ?? "document";
  return method === "GET" && headers.get("sec-fetch-mode") === "navigate" && destination === "document";
}

/** A page of another origin initiated the request, so the browser has not sent a strict cookie. */
export const isFromAnotherOrigin = ({ headers }: Request): boolean =>
  ["cross-site", "same-site"].includes(headers.get("sec-fetch-site") ?? "");

/** A server can listen on a wildcard address, but a browser cannot open one. */
const WILDCARDS: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

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
