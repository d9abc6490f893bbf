/** The OAuth issuer from afar: where its keys are and what they are, fetched when needed, bounded and kept. */

import type { FetchImplementation, RemoteJWKSet } from "jose";
import { z } from "zod";
import type { Log } from "../../platform/log.ts";
import { isTrustworthy } from "./oauth-metadata.ts";

/** The issuer gave no usable answer; its tokens may be right or wrong. */
export class IssuerUnavailable extends Error {}

export interface IssuerOptions {
  issuer: string;
  log: Log;
  /** Milliseconds that never go back. */
  now?: () => number;
}

const TIMEOUT_MS = 5_000;
const MOST_BYTES = 256 * 1_024;
const METADATA_KEPT_MS = 60 * 60_000;
const KEYS_KEPT_MS = 24 * 60 * 60_000;
/** After a failure nobody is asked again for a while: wrong tokens must not become a flood at the issuer. */
const HOLD_MS = 5_000;

const metadata = z.object({ issuer: z.string(), jwks_uri: z.string() });
const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

/** Resolves with the keys of the issuer; asked anew when a token names one that is not known. */
export function createIssuerKeys({ issuer, log, now = () => performance.now() }: IssuerOptions) {
  let known: { keys: RemoteJWKSet; address: string; until: number } | undefined;
  let underway: Promise<RemoteJWKSet> | undefined;
  let holdUntil = 0;
  const held = async <T>(work: () => Promise<T>): Promise<T> => {
    if (now() < holdUntil) throw new IssuerUnavailable();
    try {
      return await work();
    } catch (error) {
      holdUntil = now() + HOLD_MS;
      log.warn(`The OAuth issuer ${issuer} cannot be used: ${reason(error)}`);
      throw new IssuerUnavailable();
    }
  };
  const fetchKeys: FetchImplementation = (url, { signal }) =>
    held(async () => {
      const found = keySet.safeParse(await fetchDocument(url, signal));
      if (!found.success) throw new Unusable("what stands at the address of its keys are no keys.");
      return Response.json(found.data);
    });
  const renew = async (): Promise<RemoteJWKSet> => {
    const { createRemoteJWKSet, customFetch } = await import("jose");
    const address = await held(() => findKeys(issuer));
    const keys =
      known?.address === address
        ? known.keys
        : createRemoteJWKSet(new URL(address), {
            timeoutDuration: TIMEOUT_MS,
            // Known keys outlast an issuer that is away; one that is not known is looked for at once.
            cacheMaxAge: KEYS_KEPT_MS,
            [customFetch]: fetchKeys,
          });
    known = { keys, address, until: now() + METADATA_KEPT_MS };
    return keys;
  };
  return async (): Promise<RemoteJWKSet> => {
    if (known !== undefined && now() < known.until) return known.keys;
    underway ??= renew().finally(() => {
      underway = undefined;
    });
    try {
      return await underway;
    } catch (error) {
      // Addresses of keys hardly ever change: an old one is better than none.
      if (known !== undefined) return known.keys;
      throw error;
    }
  };
}

/** A failure with a sentence of ours; everything else is told by its kind only. */
class Unusable extends Error {}

const reason = (error: unknown): string =>
  error instanceof Unusable ? error.message : "it cannot be reached, or its answer is not JSON.";

/** Where its metadata names its keys: RFC 8414 first, then OpenID, each as the MCP specification orders them. */
async function findKeys(issuer: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let failure: unknown;
  for (const address of metadataAddresses(issuer)) {
    try {
      const found = metadata.safeParse(await fetchDocument(address, signal));
      if (!found.success) throw new Unusable("its metadata names no issuer and no keys.");
      // Whoever answers for another name could pass its own keys for theirs.
      if (found.data.issuer !== issuer) {
        throw new Unusable("its metadata spells its name differently; MCP_OAUTH_ISSUER must be exactly that.");
      }
      const keys = URL.parse(found.data.jwks_uri);
      if (keys === null || !isTrustworthy(keys)) throw new Unusable("its keys are not at an https address.");
      return keys.href;
    } catch (error) {
      failure = failure instanceof Unusable ? failure : error;
    }
  }
  throw failure;
}

export function metadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, "");
  const inserted = ["oauth-authorization-server", "openid-configuration"].map(
    (document) => `${origin}/.well-known/${document}${path}`,
  );
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

async function fetchDocument(address: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(address, { signal, redirect: "error", headers: { Accept: "application/json" } });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (size > MOST_BYTES) throw new Unusable("it answers with far more than a few keys.");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
