/** Allow-lists for Host and Origin, against DNS rebinding and against web pages of other origins. */

/** A name or IP address with an optional port; nothing that a lenient URL parser would read differently. */
const HOST = /^(\[[0-9a-f:.]+\]|[^\s:/@\\?#[\]]+)(?::\d{1,5})?$/i;
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

export interface Guard {
  allowsHost(host: string | undefined): boolean;
  /** A request without an Origin does not come from a web page. */
  allowsOrigin(origin: string | undefined): boolean;
}

/** Compares host names without their ports: all ports of a host belong to the same machine. */
export function createGuard({ hosts, origins }: { hosts: readonly string[]; origins: readonly string[] }): Guard {
  const hostnames = new Set([...LOOPBACK_NAMES, ...hosts.map(hostnameOf).filter((name) => name !== undefined)]);
  const pages = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  return {
    allowsHost: (host) => hostnames.has(hostnameOf(host ?? "") ?? ""),
    allowsOrigin: (origin) => {
      if (origin === undefined) return true;
      const page = origin.toLowerCase();
      if (pages.has(page)) return true;
      const [, host = ""] = /^https?:\/\/([^/]+)$/.exec(page) ?? [];
      const name = hostnameOf(host) ?? "";
      return LOOPBACK_NAMES.includes(name) || pages.has(name);
    },
  };
}

const hostnameOf = (host: string): string | undefined => HOST.exec(host)?.[1]?.toLowerCase();

export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address);

/** As written in a URL and in a Host header. */
export const urlHost = (address: string): string => (address.includes(":") ? `[${address}]` : address);
