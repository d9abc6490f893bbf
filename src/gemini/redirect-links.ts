/** Resolves Google's redirect links: one HEAD request each to Google's redirect host, reading only `Location`. */

import { BlockList, isIP } from "node:net";
import { useProxyFromEnvironment } from "./transport/google-client.ts";

export interface RedirectResolver {
  /** The target URL; undefined if there is none, or none that may be stored. */
  resolve(link: string, signal: AbortSignal): Promise<string | undefined>;
}

const REDIRECT_HOST = "vertexaisearch.cloud.google.com";
const REDIRECT_PATH = "/grounding-api-redirect/";
const REQUEST_TIMEOUT_MS = 5_000;
const MAX_URL_CHARACTERS = 4_096;

export function isGoogleRedirect(link: string): boolean {
  if (!URL.canParse(link)) return false;
  const { protocol, host, pathname, username } = new URL(link);
  return protocol === "https:" && host === REDIRECT_HOST && username === "" && pathname.startsWith(REDIRECT_PATH);
}

/** `origin` is Google's redirect host; a loopback server in tests. */
export function createRedirectResolver(origin = `https://${REDIRECT_HOST}`): RedirectResolver {
  return {
    resolve: async (link, signal) => {
      if (!isGoogleRedirect(link)) return undefined;
      await useProxyFromEnvironment();
      const { pathname, search } = new URL(link);
      const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
      try {
        const response = await fetch(new URL(pathname + search, origin), {
          method: "HEAD",
          // The target page itself is never requested.
          redirect: "manual",
          credentials: "omit",
          signal: limited,
        });
        await response.body?.cancel();
        const target = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
        return target === null ? undefined : publicUrl(target);
      } catch {
        return undefined;
      }
    },
  };
}

// Two lists: a single one would match every IPv4 address through its mapped IPv6 form, which is blocked as a whole.
const PRIVATE = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.ipv4.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 127],
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE.ipv6.addSubnet(network, prefix, "ipv6");
}

/** Host names that only exist on local networks. */
const LOCAL_NAME = /^[^.]*$|\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/;

/** The normalised URL if it is on the public web; undefined for local networks and for another redirect. */
export function publicUrl(text: string): string | undefined {
  if (text.length > MAX_URL_CHARACTERS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "" || hostname === REDIRECT_HOST) return undefined;
  const name = hostname.replace(/\.$/, "");
  const bare = name.replace(/^\[|\]$/g, "");
  const family = isIP(bare) === 4 ? "ipv4" : "ipv6";
  if (isIP(bare) !== 0) return PRIVATE[family].check(bare, family) ? undefined : href;
  return LOCAL_NAME.test(name) ? undefined : href;
}
