/** Fetches and caches the signing keys of the OAuth issuer, bounded in time and size. */

import type { FetchImplementation, RemoteJWKSet } from "jose";
import { z } from "zod";
import type { Log } from "../../platform/log.ts";
import { isTrustworthy } from "./oauth-metadata.ts";

/** The issuer gave no usable response, so its tokens cannot be checked. */
export class IssuerUnavailable extends Error {}

export interface IssuerOptions {
  issuer: string;
  log: Log;
  /** Monotonic milliseconds. */
  now?: () => number;
}

const TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 256 * 1_024;
const METADATA_MAX_AGE_MS = 60 * 60_000;
const KEYS_MAX_AGE_MS = 24 * 60 * 60_000;
/** No request for this long after a failure, so that wrong tokens cannot flood the issuer. */
const BACKOFF_MS = 5_000;

const metadata = z.object({ issuer: z.string(), jwks_uri: z.string() });
const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

/** Returns the issuer's key set, which refetches the keys when a token names an unknown one. */
export function createIssuerKeys({ issuer, log, now = () => performance.now() }: IssuerOptions) {
  let cached: { keys: RemoteJWKSet; url: string; until: number } | undefined;
  let pending: Promise<RemoteJWKSet> | undefined;
  let backoffUntil = 0;
  const withBackoff = async <T>(work: () => Promise<T>): Promise<T> => {
    if (now() < backoffUntil) throw new IssuerUnavailable();
    try {
      return await work();
    } catch (error) {
      backoffUntil = now() + BACKOFF_MS;
      log.warn(`The OAuth issuer ${issuer} cannot be used: ${reason(error)}`);
      throw new IssuerUnavailable();
    }
  };
  const fetchKeys: FetchImplementation = (url, { signal }) =>
    withBackoff(async () => {
      const found = keySet.safeParse(await fetchDocument(url, signal));
      if (!found.success) throw new UnusableIssuer("the document at its jwks_uri is not a key set.");
      return Response.json(found.data);
    });
  const renew = async (): Promise<RemoteJWKSet> => {
    const { createRemoteJWKSet, customFetch } = await import("jose");
    const url = await withBackoff(() => findKeysUrl(issuer));
    const keys =
      cached?.url === url
        ? cached.keys
        : createRemoteJWKSet(new URL(url), {
            timeoutDuration: TIMEOUT_MS,
            // Long, so that known keys work while the issuer is unavailable; an unknown key is fetched at once.
            cacheMaxAge: KEYS_MAX_AGE_MS,
            [customFetch]: fetchKeys,
          });
    cached = { keys, url, until: now() + METADATA_MAX_AGE_MS };
    return keys;
  };
  return async (): Promise<RemoteJWKSet> => {
    if (cached !== undefined && now() < cached.until) return cached.keys;
    pending ??= renew().finally(() => {
      pending = undefined;
    });
    try {
      return await pending;
    } catch (error) {
      // The URL of the keys hardly ever changes: an old one is better than none.
      if (cached !== undefined) return cached.keys;
      throw error;
    }
  };
}

/** A failure with a message of ours; the text of any other error is not logged. */
class UnusableIssuer extends Error {}

const reason = (error: unknown): string =>
  error instanceof UnusableIssuer ? error.message : "it cannot be reached, or its response is not JSON.";

/** The jwks_uri of the issuer's metadata: RFC 8414 first, then OpenID, in the order of the MCP specification. */
async function findKeysUrl(issuer: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let failure: unknown;
  for (const url of metadataUrls(issuer)) {
    try {
      const found = metadata.safeParse(await fetchDocument(url, signal));
      if (!found.success) throw new UnusableIssuer("its metadata has no issuer or no jwks_uri.");
      // Another issuer could otherwise pass off its own keys as this issuer's.
      if (found.data.issuer !== issuer) {
        throw new UnusableIssuer("its metadata has a different issuer; MCP_OAUTH_ISSUER must match it exactly.");
      }
      const keys = URL.parse(found.data.jwks_uri);
      if (keys === null || !isTrustworthy(keys)) throw new UnusableIssuer("its jwks_uri is not an https URL.");
      return keys.href;
    } catch (error) {
      failure = failure instanceof UnusableIssuer ? failure : error;
    }
  }
  throw failure;
}

export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, "");
  const inserted = ["oauth-authorization-server", "openid-configuration"].map(
    (document) => `${origin}/.well-known/${document}${path}`,
  );
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

async function fetchDocument(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal, redirect: "error", headers: { Accept: "application/json" } });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (size > MAX_DOCUMENT_BYTES) throw new UnusableIssuer("its response is too large.");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
