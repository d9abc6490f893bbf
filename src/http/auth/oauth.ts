/**
 * This server as an OAuth protected resource: its settings, its metadata document (RFC 9728), and the verification of JWT
 * access tokens with the issuer's keys, which are fetched within limits of time and size, and cached.
 */

import { createHash } from "node:crypto";
import { getOAuthProtectedResourceMetadataUrl } from "@modelcontextprotocol/server";
import type { FetchImplementation, JWTPayload, JWTVerifyResult, RemoteJWKSet } from "jose";
import { z } from "zod";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { refuse } from "../error-response.ts";
import { isLoopback } from "../host-guard.ts";
import type { Log } from "../../platform/log.ts";
import { createBuckets } from "../rate-limit.ts";

interface OAuthResource {
  /** As configured: issuers are compared as text. */
  issuer: string;
  /** URL of this server, which must be in a token's audience. */
  resource: string;
  metadataUrl: string;
}

export type OAuthSettings = Pick<Config["settings"], "MCP_OAUTH_ISSUER" | "MCP_PUBLIC_URL">;

/** Undefined when no issuer is configured. */
export function oauthResource({
  MCP_OAUTH_ISSUER: issuer,
  MCP_PUBLIC_URL: url,
}: OAuthSettings): OAuthResource | undefined {
  if (issuer === undefined) return undefined;
  if (!isIssuer(issuer)) {
    throw wrong(
      "MCP_OAUTH_ISSUER cannot be used.",
      "It must be an https URL without query and fragment; http is accepted on this machine only.",
    );
  }
  if (url === undefined) {
    throw wrong(
      "MCP_OAUTH_ISSUER needs MCP_PUBLIC_URL.",
      "Set MCP_PUBLIC_URL to the URL at which clients reach this server, for example https://research.example.com.",
    );
  }
  const resource = resourceUrl(url);
  if (resource === undefined) {
    throw wrong("MCP_PUBLIC_URL cannot be used.", "It must be an https or http URL without query and fragment.");
  }
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  return { issuer, resource: resource.href, metadataUrl };
}

const wrong = (message: string, suggestion: string): AppError =>
  new AppError({ code: "INVALID_INPUT", message, suggestion });

/** Keys and metadata must not come over a connection that others could tamper with. */
function isTrustworthy(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname.replaceAll(/[[\]]/g, "")));
}

function isIssuer(text: string): boolean {
  const url = plainUrl(text);
  return url !== undefined && isTrustworthy(url);
}

function resourceUrl(text: string): URL | undefined {
  const url = plainUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith("/mcp") ? path : `${path}/mcp`;
  return url;
}

function plainUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || /[?#]/.test(text) || url.username !== "" || url.password !== "") return undefined;
  return url;
}

/** Undefined for a request for any other document. */
export type WellKnown = (request: Request) => Promise<Response | undefined>;

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

export function createWellKnown(app: { config: { settings: OAuthSettings } }): WellKnown {
  const oauth = oauthResource(app.config.settings);
  const paths = new Set([WELL_KNOWN, `${WELL_KNOWN}/mcp`]);
  if (oauth !== undefined) paths.add(new URL(oauth.metadataUrl).pathname);
  return async (request) => {
    const path = new URL(request.url).pathname.replace(/\/$/, "");
    if (!paths.has(path)) return undefined;
    if (oauth === undefined) return notOffered();
    return publicDocument(request, {
      resource: oauth.resource,
      authorization_servers: [oauth.issuer],
      bearer_methods_supported: ["header"],
      resource_name: "gemini-search-mcp",
    });
  };
}

const notOffered = (): Response =>
  refuse({
    status: 404,
    code: "INVALID_INPUT",
    message: "No OAuth issuer is configured for this server.",
    suggestion: "Send one of its own tokens as `Authorization: Bearer`.",
  });

const METHODS = "GET, HEAD, OPTIONS";

/** Readable for every origin: clients in a browser read it before they have a token. */
function publicDocument(request: Request, document: Record<string, unknown>): Response {
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": METHODS };
  if (request.method === "OPTIONS") {
    return new Response(null, { status: 204, headers: { ...headers, "Access-Control-Allow-Headers": "*" } });
  }
  if (request.method === "HEAD") return new Response(null, { headers });
  if (request.method === "GET") return Response.json(document, { headers });
  return refuse({
    status: 405,
    code: "INVALID_INPUT",
    message: "This document can only be read.",
    suggestion: "Use GET.",
    headers: { ...headers, Allow: METHODS },
  });
}

/** The issuer gave no usable response, so its tokens cannot be checked. */
class IssuerUnavailable extends Error {}

interface IssuerOptions {
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

interface KeyFetcherOptions {
  /** Whose keys, for the log. */
  who: string;
  log: Log;
  now: () => number;
}

/** Fetches documents and keys of one signer, and pauses after a failure. */
function createKeyFetcher({ who, log, now }: KeyFetcherOptions) {
  let backoffUntil = 0;
  const withBackoff = async <T>(work: () => Promise<T>): Promise<T> => {
    if (now() < backoffUntil) throw new IssuerUnavailable();
    try {
      return await work();
    } catch (error) {
      backoffUntil = now() + BACKOFF_MS;
      log.warn(`${who} cannot be used: ${reason(error)}`);
      throw new IssuerUnavailable();
    }
  };
  const fetchKeys: FetchImplementation = (url, { signal }) =>
    withBackoff(async () => {
      const found = keySet.safeParse(await fetchDocument(url, signal));
      if (!found.success) throw new UnusableIssuer("the document at its jwks_uri is not a key set.");
      return Response.json(found.data);
    });
  /** Refetched when a token names an unknown key. */
  const keysAt = async (url: string): Promise<RemoteJWKSet> => {
    const { createRemoteJWKSet, customFetch } = await import("jose");
    return createRemoteJWKSet(new URL(url), {
      timeoutDuration: TIMEOUT_MS,
      // Long, so that known keys work while the issuer is unavailable; an unknown key is fetched at once.
      cacheMaxAge: KEYS_MAX_AGE_MS,
      [customFetch]: fetchKeys,
    });
  };
  return { withBackoff, keysAt };
}

/** The keys at a fixed address. */
export function createRemoteKeys({ url, who, log }: { url: string; who: string; log: Log }) {
  const { keysAt } = createKeyFetcher({ who: `The key set of ${who}`, log, now: () => performance.now() });
  let keys: Promise<RemoteJWKSet> | undefined;
  return (): Promise<RemoteJWKSet> => (keys ??= keysAt(url));
}

/** Returns the issuer's key set. */
function createIssuerKeys({ issuer, log, now = () => performance.now() }: IssuerOptions) {
  const { withBackoff, keysAt } = createKeyFetcher({ who: `The OAuth issuer ${issuer}`, log, now });
  let cached: { keys: RemoteJWKSet; url: string; until: number } | undefined;
  let pending: Promise<RemoteJWKSet> | undefined;
  const renew = async (): Promise<RemoteJWKSet> => {
    const url = await withBackoff(() => findKeysUrl(issuer));
    const keys = cached?.url === url ? cached.keys : await keysAt(url);
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

export type JwtVerdict = { owner: string } | { invalid: string } | "issuer unavailable";

interface AccessJwtOptions extends IssuerOptions {
  resource: string;
}

/** No HMAC algorithms: with a shared secret, every verifier could also sign tokens. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const CLOCK_TOLERANCE_S = 60;

/** With the same keys an issuer also signs other tokens, such as log-out tokens, which must not grant access. */
const TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);

export const looksLikeJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

export function createAccessJwt({ issuer, resource, log, now }: AccessJwtOptions) {
  const issuerKeys = createIssuerKeys({ issuer, log, ...(now === undefined ? {} : { now }) });
  const warnings = createBuckets({ perMinute: 1 });
  return async (token: string): Promise<JwtVerdict> => {
    const { jwtVerify } = await import("jose");
    // Unverified at this point: only keeps tokens of other issuers from causing requests to ours.
    if ((await claimedIssuer(token)) !== issuer) return { invalid: "It comes from another issuer." };
    try {
      const verified = await jwtVerify(token, await issuerKeys(), {
        issuer,
        audience: resource,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ["exp", "sub"],
      });
      return verdict(verified);
    } catch (error) {
      if (error instanceof IssuerUnavailable) return "issuer unavailable";
      const invalid = invalidReason(error, resource);
      if (invalid !== undefined) return { invalid };
      if (warnings("") === 0) log.warn(`A key of the OAuth issuer ${issuer} cannot be used.`);
      return "issuer unavailable";
    }
  };
}

/** Expiry of an accepted token, in milliseconds since the epoch. */
export async function expiryOf(token: string): Promise<number> {
  const { decodeJwt } = await import("jose");
  return (decodeJwt(token).exp ?? 0) * 1_000;
}

async function claimedIssuer(token: string): Promise<string | undefined> {
  const { decodeJwt } = await import("jose");
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function verdict({ payload, protectedHeader }: JWTVerifyResult): JwtVerdict {
  if (protectedHeader.typ !== undefined && !TYPES.has(protectedHeader.typ.toLowerCase())) {
    return { invalid: "It is not an access token." };
  }
  const owner = ownerOf(payload);
  return owner === undefined ? { invalid: NO_SUBJECT } : { owner };
}

const NO_SUBJECT = "It has no subject (sub).";

/**
 * Two subjects must never map to one owner, so a subject is never shortened or cleaned: one that cannot be shown and
 * stored as it is becomes its hash. A named token cannot have such an owner, because its name has no colon.
 */
export function ownerOf({ sub, iss }: Pick<JWTPayload, "sub" | "iss">): string | undefined {
  if (typeof sub !== "string" || sub === "" || typeof iss !== "string") return undefined;
  if (/^[\w.@|:+/=-]{1,128}$/.test(sub)) return `${prefixOf(iss)}${sub}`;
  return `${prefixOf(iss)}~${sha256(sub)}`;
}

/** Subjects are unique per issuer only. */
const prefixOf = (issuer: string): string => `oauth:${sha256(issuer).slice(0, 12)}:`;

export const isOwnerOf = (issuer: string, owner: string): boolean => owner.startsWith(prefixOf(issuer));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The library's error codes for an invalid token; all others are the issuer's fault. */
const TOKEN_FAULT =
  /^ERR_(?:JWT_|JWS_|JWKS_NO_MATCHING_KEY|JWKS_MULTIPLE_MATCHING_KEYS|JOSE_ALG_NOT_ALLOWED|JOSE_NOT_SUPPORTED)/;

function invalidReason(error: unknown, resource: string): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  if (error.code === "ERR_JWT_EXPIRED") return "It has expired.";
  if ("claim" in error && error.claim === "aud")
    return `It is not meant for this server: its audience must be ${resource}.`;
  if ("claim" in error && error.claim === "sub") return NO_SUBJECT;
  return TOKEN_FAULT.test(error.code) ? "It was not signed by the issuer, or its claims are not valid." : undefined;
}
