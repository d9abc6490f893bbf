import { discoverOAuthProtectedResourceMetadata } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import fc from "fast-check";
import { createAccessJwt, createWellKnown, type JwtVerdict, metadataUrls, oauthResource, ownerOf } from "./oauth.ts";
import { RESOURCE, sendJson, startIssuer, type TestIssuer } from "../../../test/kit/services/issuer.ts";
import { createTestLog } from "../../../test/kit/log.ts";

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
    expect(await answer?.json()).toMatchObject({ success: false, error: { code: "INVALID_INPUT" } });
  });
});

let issuer: TestIssuer;
let lines: string[];
let time: number;
const log = createTestLog((line) => lines.push(line));

beforeEach(async () => {
  lines = [];
  time = 0;
  issuer = await startIssuer();
});
afterEach(() => issuer.close());

const reader = (): ((token: string) => Promise<JwtVerdict>) =>
  createAccessJwt({ issuer: issuer.url, resource: RESOURCE, log, now: () => time });

const seconds = (fromNow: number): number => Math.floor(Date.now() / 1_000) + fromNow;
const NOT_SIGNED = { invalid: "It was not signed by the issuer, or its claims are not valid." };

describe("a JWT of the issuer (A9)", () => {
  test("identifies its subject; metadata and keys are requested once", async () => {
    const read = reader();
    expect(await read(await issuer.token())).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    expect(await read(await issuer.token({ sub: "bob", aud: ["https://other.example", RESOURCE] }))).toEqual({
      owner: `oauth:${issuer.mark}:bob`,
    });
    expect(await read(await issuer.token({}, { typ: "JWT" }))).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    expect(issuer.asked).toEqual(["/.well-known/oauth-authorization-server", "/keys"]);
  });

  test("may be expired by the clock tolerance, not more", async () => {
    const read = reader();
    expect(await read(await issuer.token({ exp: seconds(-20) }))).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    expect(await read(await issuer.token({ exp: seconds(-120) }))).toEqual({ invalid: "It has expired." });
    expect(await read(await issuer.token({ nbf: seconds(120) }))).toEqual(NOT_SIGNED);
  });

  test("is rejected when a claim is wrong or missing", async () => {
    const read = reader();
    const wrongAudience = { invalid: `It is not meant for this server: its audience must be ${RESOURCE}.` };
    expect(await read(await issuer.token({ aud: "https://other.example/mcp" }))).toEqual(wrongAudience);
    expect(await read(await issuer.token({ aud: "https://research.example.com" }))).toEqual(wrongAudience);
    expect(await read(await issuer.token({ aud: undefined }))).toEqual(wrongAudience);
    expect(await read(await issuer.token({ exp: undefined }))).toEqual(NOT_SIGNED);
    for (const sub of [undefined, ""]) {
      expect(await read(await issuer.token({ sub }))).toEqual({ invalid: "It has no subject (sub)." });
    }
    expect(await read(await issuer.token({}, { typ: "logout+jwt" }))).toEqual({
      invalid: "It is not an access token.",
    });
  });

  test("is rejected when the issuer has not signed it", async () => {
    const read = reader();
    const tampered = (await issuer.token()).split(".");
    tampered[1] = Buffer.from(
      JSON.stringify({ iss: issuer.url, aud: RESOURCE, sub: "root", exp: seconds(600) }),
    ).toString("base64url");
    for (const token of [
      issuer.unsigned(),
      await issuer.confused(),
      await issuer.forged(),
      await issuer.token({}, { kid: "unknown" }),
      tampered.join("."),
    ]) {
      expect(await read(token)).toEqual(NOT_SIGNED);
    }
  });

  test("signed with an algorithm that needs no secret is rejected before a key is requested", async () => {
    const read = reader();
    for (const token of [issuer.unsigned(), await issuer.confused()]) expect(await read(token)).toEqual(NOT_SIGNED);
    expect(issuer.asked).not.toContain("/keys");
  });

  test("of another issuer, or a malformed one, causes no request", async () => {
    const read = reader();
    const other = { invalid: "It comes from another issuer." };
    expect(await read(await issuer.token({ iss: "https://other.example" }))).toEqual(other);
    expect(await read(await issuer.token({ iss: undefined }))).toEqual(other);
    expect(await read("a.b.c")).toEqual(other);
    expect(issuer.asked).toEqual([]);
  });
});

describe("an issuer (A9)", () => {
  test("that is down is not requested again at once, and is trusted when it is back", async () => {
    const read = reader();
    const token = await issuer.token();
    issuer.misbehave((response) => response.writeHead(500).end());
    expect(await read(token)).toBe("issuer unavailable");
    const askedBefore = issuer.asked.length;
    issuer.misbehave(undefined);
    expect(await read(token)).toBe("issuer unavailable");
    expect(issuer.asked).toHaveLength(askedBefore);
    time += 5_001;
    expect(await read(token)).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    expect(lines).toEqual([
      `[WARN] The OAuth issuer ${issuer.url} cannot be used: it cannot be reached, or its response is not JSON.\n`,
    ]);
  });

  test("whose process has ended is unavailable, and cached keys stay valid", async () => {
    const read = reader();
    const token = await issuer.token();
    expect(await read(token)).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    await issuer.close();
    time += 2 * 60 * 60_000;
    expect(await read(token)).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    expect(await reader()(token)).toBe("issuer unavailable");
  });

  test("that moves its keys is trusted with the new ones within an hour", async () => {
    const read = reader();
    expect(await read(await issuer.token())).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    const keys = await (await fetch(`${issuer.url}/keys`)).json();
    issuer.misbehave((response, path) => {
      if (path === "/moved") sendJson(response, keys);
      else if (path === "/keys") response.writeHead(410).end();
      else sendJson(response, { issuer: issuer.url, jwks_uri: `${issuer.url}/moved` });
    });
    time += 60 * 60_000;
    expect(await read(await issuer.token())).toEqual({ owner: `oauth:${issuer.mark}:ann` });
    expect(issuer.asked.at(-1)).toBe("/moved");
  });

  test("gets one request for its metadata at a time", async () => {
    const read = reader();
    const token = await issuer.token();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => read(token)));
    expect(new Set(verdicts.map((verdict) => JSON.stringify(verdict)))).toEqual(
      new Set([`{"owner":"oauth:${issuer.mark}:ann"}`]),
    );
    expect(issuer.asked).toHaveLength(2);
  });

  test.each([
    [
      "with a different issuer in its metadata",
      { issuer: "https://other.example", jwks_uri: "https://x/keys" },
      "has a different issuer",
    ],
    ["whose keys come over an insecure connection", { jwks_uri: "http://192.0.2.1/keys" }, "not an https URL"],
    ["without keys", {}, "has no issuer or no jwks_uri"],
    ["with an oversized document", { padding: "x".repeat(300 * 1_024) }, "too large"],
  ])("%s is not used", async (_name, answer, words) => {
    issuer.misbehave((response) => sendJson(response, { issuer: issuer.url, ...answer }));
    expect(await reader()(await issuer.token())).toBe("issuer unavailable");
    expect(lines.join("")).toContain(words);
  });

  test("that redirects, or has no keys at its address, is not used", async () => {
    issuer.misbehave((response) => response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end());
    expect(await reader()(await issuer.token())).toBe("issuer unavailable");
    expect(issuer.asked).not.toContain("/elsewhere");
    issuer.misbehave((response, path) =>
      sendJson(response, path === "/keys" ? { keys: "none" } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }),
    );
    expect(await reader()(await issuer.token())).toBe("issuer unavailable");
    expect(lines.at(-1)).toContain("is not a key set");
  });

  test("with a path has its metadata at one of three addresses", async () => {
    expect(metadataUrls("https://login.example/tenant/")).toEqual([
      "https://login.example/.well-known/oauth-authorization-server/tenant",
      "https://login.example/.well-known/openid-configuration/tenant",
      "https://login.example/tenant/.well-known/openid-configuration",
    ]);
    const tenant = await startIssuer({ path: "/tenant" });
    const read = createAccessJwt({ issuer: tenant.url, resource: RESOURCE, log });
    expect(await read(await tenant.token())).toEqual({ owner: `oauth:${tenant.mark}:ann` });
    await tenant.close();
  });

  test("that supports OpenID only is found too", async () => {
    const metadata = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
    const keys = await (await fetch(metadata.jwks_uri)).json();
    issuer.misbehave((response, path) => {
      if (path === "/keys") sendJson(response, keys);
      else if (path === "/.well-known/openid-configuration") sendJson(response, metadata);
      else response.writeHead(404).end();
    });
    expect(await reader()(await issuer.token())).toEqual({ owner: `oauth:${issuer.mark}:ann` });
  });
});

describe("the owner derived from a subject (A9)", () => {
  test("is the subject if it is printable, else its hash", () => {
    const iss = "https://issuer.example";
    expect(ownerOf({ iss, sub: "auth0|5f7c8ec7c33c" })).toMatch(/^oauth:[0-9a-f]{12}:auth0\|5f7c8ec7c33c$/);
    expect(ownerOf({ iss, sub: "ann\u200B" })).toMatch(/^oauth:[0-9a-f]{12}:~[0-9a-f]{64}$/);
    expect(ownerOf({ iss, sub: "x".repeat(129) })).toMatch(/^oauth:[0-9a-f]{12}:~[0-9a-f]{64}$/);
    expect(ownerOf({ iss: `${iss}/other`, sub: "ann" })).not.toBe(ownerOf({ iss, sub: "ann" }));
  });

  test("is never the same for two subjects, and always short and printable", () => {
    const subject = fc.oneof(
      fc.string({ unit: "binary", minLength: 1 }),
      fc.string({ minLength: 100, maxLength: 300 }),
    );
    fc.assert(
      fc.property(subject, subject, (one, other) => {
        const owner = (sub: string) => ownerOf({ iss: "https://issuer.example", sub });
        expect(owner(one)).toMatch(/^oauth:[0-9a-f]{12}:[\w.@|:+/=~-]{1,128}$/);
        expect(owner(one) === owner(other)).toBe(one === other);
      }),
    );
  });
});
