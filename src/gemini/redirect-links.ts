/** Where Google's redirect links lead: one request to Google's redirect host each, and only its `Location` is read. */

import { BlockList, isIP } from "node:net";
import { useProxyFromEnvironment } from "./transport/google-client.ts";

export interface RedirectResolver {
  /** The address it leads to; undefined where there is none that may be kept. */
  resolve(link: string, signal: AbortSignal): Promise<string | undefined>;
}

const REDIRECT_HOST = "vertexaisearch.cloud.google.com";
const REDIRECT_PATH = "/grounding-api-redirect/";
const REQUEST_MS = 5_000;
const MAX_ADDRESS_CHARACTERS = 4_096;

export function isGoogleRedirect(link: string): boolean {
  if (!URL.canParse(link)) return false;
  const { protocol, host, pathname, username } = new URL(link);
  return protocol === "https:" && host === REDIRECT_HOST && username === "" && pathname.startsWith(REDIRECT_PATH);
}

/** `origin` is where the redirect host answers: Google's own, but in tests a server on loopback. */
export function createRedirectResolver(origin = `https://${REDIRECT_HOST}`): RedirectResolver {
  return {
    resolve: async (link, signal) => {
      if (!isGoogleRedirect(link)) return undefined;
      await useProxyFromEnvironment();
      const { pathname, search } = new URL(link);
      const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
      try {
        const answer = await fetch(new URL(pathname + search, origin), {
          method: "HEAD",
          // Never followed: the page itself is not asked for.
          redirect: "manual",
          credentials: "omit",
          signal: limited,
        });
        await answer.body?.cancel();
        const target = answer.status >= 300 && answer.status < 400 ? answer.headers.get("location") : null;
        return target === null ? undefined : publicAddress(target);
      } catch {
        return undefined;
      }
    },
  };
}

// Apart: a list answers for an IPv4 address by its mapped form too, which is refused as a whole.
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

/** Names that only a local network answers. */
const LOCAL_NAME = /^[^.]*$|\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/;

/** An address of the public web as a browser writes it; nothing of a local network, and no second redirect. */
export function publicAddress(text: string): string | undefined {
  if (text.length > MAX_ADDRESS_CHARACTERS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "" || hostname === REDIRECT_HOST) return undefined;
  const name = hostname.replace(/\.$/, "");
  const bare = name.replace(/^\[|\]$/g, "");
  const family = isIP(bare) === 4 ? "ipv4" : "ipv6";
  if (isIP(bare) !== 0) return PRIVATE[family].check(bare, family) ? undefined : href;
  return LOCAL_NAME.test(name) ? undefined : href;
}
