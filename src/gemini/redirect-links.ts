/** Resolves Google's redirect links: one HEAD request each to Google's redirect host, reading only `Location`. */

import { isIP } from "node:net";
import { isLocalName, isPublicAddress } from "../platform/public-address.ts";
import { useProxyFromEnvironment } from "./transport/google-client.ts";

export interface RedirectResolver {
  /**
   * The target URL; undefined if there is none, or none that may be stored. Rejects with `RedirectUnreachable` if
   * Google's host does not respond.
   */
  resolve(link: string, signal: AbortSignal): Promise<string | undefined>;
}

export class RedirectUnreachable extends Error {
  override message = "Google's redirect could not be reached. Check the network, then check again.";
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
        const { status } = response;
        if (status === 429 || status >= 500) throw new RedirectUnreachable();
        const target = status >= 300 && status < 400 ? response.headers.get("location") : null;
        return target === null ? undefined : publicUrl(target);
      } catch {
        throw new RedirectUnreachable();
      }
    },
  };
}

/** The normalised URL if it is on the public web; undefined for local networks and for another redirect. */
export function publicUrl(text: string): string | undefined {
  if (text.length > MAX_URL_CHARACTERS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { href, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "" || hostname === REDIRECT_HOST) return undefined;
  const name = hostname.replace(/\.$/, "");
  const bare = name.replace(/^\[|\]$/g, "");
  const isPublic = isIP(bare) === 0 ? !isLocalName(name) : isPublicAddress(bare);
  return isPublic ? href : undefined;
}
