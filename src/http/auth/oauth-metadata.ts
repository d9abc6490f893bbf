/** This server as an OAuth protected resource: its settings and its metadata document (RFC 9728). */

import { getOAuthProtectedResourceMetadataUrl } from "@modelcontextprotocol/server";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { refuse } from "../error-response.ts";

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

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Keys and metadata must not come over a connection that others could tamper with. */
export function isTrustworthy(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
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
    code: "NOT_FOUND",
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
