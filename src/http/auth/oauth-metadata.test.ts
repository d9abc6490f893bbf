import { discoverOAuthProtectedResourceMetadata } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { createWellKnown, oauthResource } from "./oauth-metadata.ts";

const settings = (MCP_OAUTH_ISSUER: string | undefined, MCP_PUBLIC_URL: string | undefined) => ({
  MCP_OAUTH_ISSUER,
  MCP_PUBLIC_URL,
});
const ISSUER = "https://login.example/tenant";
const PUBLIC = "https://research.example.com";

describe("the audience of tokens (A9)", () => {
  test.each([
    [PUBLIC, `${PUBLIC}/mcp`, `${PUBLIC}/.well-known/oauth-protected-resource/mcp`],
    [`${PUBLIC}/`, `${PUBLIC}/mcp`, `${PUBLIC}/.well-known/oauth-protected-resource/mcp`],
    [`${PUBLIC}/mcp`, `${PUBLIC}/mcp`, `${PUBLIC}/.well-known/oauth-protected-resource/mcp`],
    [`${PUBLIC}/gemini/`, `${PUBLIC}/gemini/mcp`, `${PUBLIC}/.well-known/oauth-protected-resource/gemini/mcp`],
    [
      "http://localhost:3000",
      "http://localhost:3000/mcp",
      "http://localhost:3000/.well-known/oauth-protected-resource/mcp",
    ],
  ])("of %s is %s", (url, resource, metadataUrl) => {
    expect(oauthResource(settings(ISSUER, url))).toEqual({ issuer: ISSUER, resource, metadataUrl });
  });

  test("needs no settings without an issuer", () => {
    expect(oauthResource(settings(undefined, undefined))).toBeUndefined();
    expect(oauthResource(settings(undefined, "nonsense"))).toBeUndefined();
  });

  test.each([
    ["http://login.example", PUBLIC, "MCP_OAUTH_ISSUER cannot be used."],
    ["http://localhost.evil.example", PUBLIC, "MCP_OAUTH_ISSUER cannot be used."],
    ["http://127.0.0.1.nip.io", PUBLIC, "MCP_OAUTH_ISSUER cannot be used."],
    ["https://login.example/?a=b", PUBLIC, "MCP_OAUTH_ISSUER cannot be used."],
    ["https://login.example/#", PUBLIC, "MCP_OAUTH_ISSUER cannot be used."],
    ["https://me:secret@login.example", PUBLIC, "MCP_OAUTH_ISSUER cannot be used."],
    ["login.example", PUBLIC, "MCP_OAUTH_ISSUER cannot be used."],
    [ISSUER, undefined, "MCP_OAUTH_ISSUER needs MCP_PUBLIC_URL."],
    [ISSUER, "research.example.com", "MCP_PUBLIC_URL cannot be used."],
    [ISSUER, "ftp://research.example.com", "MCP_PUBLIC_URL cannot be used."],
  ])("cannot be derived from issuer %s and public URL %s", (issuer, url, message) => {
    expect(() => oauthResource(settings(issuer, url))).toThrow(message);
  });
});

describe("the well-known document (A9)", () => {
  const wellKnown = createWellKnown({ config: { settings: settings(ISSUER, PUBLIC) } });
  const document = {
    resource: `${PUBLIC}/mcp`,
    authorization_servers: [ISSUER],
    bearer_methods_supported: ["header"],
    resource_name: "gemini-search-mcp",
  };

  test("is discovered and parsed by the official client", async () => {
    const asked: string[] = [];
    const found = await discoverOAuthProtectedResourceMetadata(`${PUBLIC}/mcp`, {}, async (url, init) => {
      asked.push(String(url));
      return (await wellKnown(new Request(url, init))) ?? new Response(null, { status: 404 });
    });
    expect(found).toEqual(document);
    expect(asked).toEqual([`${PUBLIC}/.well-known/oauth-protected-resource/mcp`]);
  });

  test("is served at both addresses, to every origin, for reading only", async () => {
    const at = (path: string, method = "GET") => wellKnown(new Request(`http://127.0.0.1:3000${path}`, { method }));
    const root = await at("/.well-known/oauth-protected-resource");
    expect(await root?.json()).toEqual(document);
    expect(root?.headers.get("access-control-allow-origin")).toBe("*");
    expect((await at("/.well-known/oauth-protected-resource/mcp", "HEAD"))?.status).toBe(200);
    expect((await at("/.well-known/oauth-protected-resource/mcp", "OPTIONS"))?.status).toBe(204);
    expect((await at("/.well-known/oauth-protected-resource/mcp", "POST"))?.status).toBe(405);
    expect(await at("/.well-known/oauth-protected-resource/other")).toBeUndefined();
    expect(await at("/mcp")).toBeUndefined();
  });

  test("does not exist without an issuer", async () => {
    const none = createWellKnown({ config: { settings: settings(undefined, undefined) } });
    const answer = await none(new Request(`${PUBLIC}/.well-known/oauth-protected-resource`));
    expect(answer?.status).toBe(404);
    expect(await answer?.json()).toMatchObject({ success: false, error: { code: "NOT_FOUND" } });
  });
});
