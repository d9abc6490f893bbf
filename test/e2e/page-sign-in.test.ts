/** Signing in to the dashboard by link or token, and rejecting requests from other pages. */

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openHttpScene, type RunningHttpServer } from "../kit/server/http-server.ts";
import { browserHeaders, type BrowserHeaders, destinationOf } from "../kit/browser/page-session.ts";
import { type Answered, ask } from "../kit/server/raw-request.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };
/** A signed-in browser gets a response other than the sign-in page. */
const OUT = 401;

const sessionOf = ({ body, headers }: Answered): BrowserHeaders =>
  browserHeaders({ body, setCookie: String(headers["set-cookie"] ?? "") });

async function linkOf(server: RunningHttpServer, token = server.token): Promise<string> {
  const response = await server.request("/api/links", {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  return z.object({ path: z.string() }).parse(await response.json()).path;
}

/** The link of a named user is confirmed, which the page does with a form. */
const enter = async (server: RunningHttpServer, token?: string): Promise<BrowserHeaders> => {
  const method = token === undefined ? "GET" : "POST";
  return sessionOf(await ask(server, { method, path: await linkOf(server, token), headers: HTML }));
};

const signIn = (server: RunningHttpServer, token: string, headers: Record<string, string> = {}): Promise<Answered> =>
  ask(server, {
    method: "POST",
    path: "/sign-in",
    headers: { ...HTML, ...FORM, ...headers },
    body: new URLSearchParams({ token, to: "/costs" }).toString(),
  });

describe("a link to the page (A9)", () => {
  test("signs in one browser, once; its cookie opens the page and not the protocol", async (context) => {
    const server = await (await openHttpScene(context)).http();
    expect((await ask(server, { path: "/", headers: HTML })).status).toBe(OUT);
    const path = await linkOf(server);
    expect(path).toMatch(/^\/enter\/[\w-]{43}$/);
    const entered = await ask(server, { path, headers: HTML });
    expect([entered.status, destinationOf(entered.body)]).toEqual([200, "/"]);
    expect(entered.headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/]{43}=';/);
    expect(entered.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        new RegExp(
          `^gemini_search_page_${server.port}=[\\w-]{43}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict$`,
        ),
      ),
    ]);
    const again = await ask(server, { path, headers: HTML });
    expect(again.status).toBe(OUT);
    expect(again.body).toContain("gemini-search-mcp open");
    expect(again.headers).not.toHaveProperty("set-cookie");

    const session = sessionOf(entered);
    for (const inside of ["/", "/costs", "/runs/x", "/assets/page.js", "/api/runs"]) {
      expect((await ask(server, { path: inside, headers: session })).status, inside).not.toBe(OUT);
    }
    for (const method of ["GET", "POST", "DELETE"]) {
      expect((await ask(server, { method, path: "/mcp", headers: session })).status).toBe(OUT);
    }
    expect((await ask(server, { path: "/no/such/address", headers: session })).status).toBe(OUT);
    expect(server.stderr() + server.stdout()).not.toContain(path);
  });

  test("is issued for a token only, not for a cookie", async (context) => {
    const server = await (await openHttpScene(context)).http();
    const session = await enter(server);
    for (const headers of [{}, session, { authorization: "Bearer not-a-token-of-anybody" }]) {
      expect((await ask(server, { method: "POST", path: "/api/links", headers })).status).toBe(OUT);
    }
  });
});

describe("requests to the page's API are accepted (A9)", () => {
  test("from the page only: not from other ports, sites or frames, whatever cookie they send; Host is checked first", async (context) => {
    const server = await (await openHttpScene(context)).http();
    const session = await enter(server);
    const host = `127.0.0.1:${server.port}`;
    const status = async (headers: Record<string, string>, method = "GET", path = "/api/runs"): Promise<number> =>
      (await ask(server, { method, path, headers: { ...session, ...headers } })).status;
    const otherPages: Record<string, string>[] = [
      { origin: `http://127.0.0.1:${server.port + 1}`, "sec-fetch-site": "same-site" },
      { origin: `http://127.0.0.1:${server.port + 1}` },
      { origin: `http://localhost:${server.port}` },
      { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      { origin: "null" },
      { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    ];
    for (const headers of otherPages) {
      for (const method of ["GET", "POST"]) expect([headers, await status(headers, method)]).toEqual([headers, 403]);
      expect(await status(headers, "POST", "/sign-out")).toBe(403);
    }
    expect(await status({ host: "evil.example", origin: "http://evil.example" })).toBe(403);
    const own: Record<string, string>[] = [
      {},
      { origin: `http://${host}`, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
    ];
    for (const headers of own) expect([403, OUT]).not.toContain(await status(headers));
    expect((await signIn(server, server.token, { origin: `http://127.0.0.1:${server.port + 1}` })).status).toBe(403);
    // A client with the token itself needs no page.
    const script = await ask(server, {
      path: "/api/links",
      headers: { authorization: `Bearer ${server.token}`, origin: "http://localhost:5173" },
    });
    expect(script.status).toBe(404);
    expect(script.headers).not.toHaveProperty("access-control-allow-origin");
  });

  test("under every name of the server, with its cookie on the page's paths only", async (context) => {
    const env = { MCP_ALLOWED_HOSTS: "research.example" };
    const server = await (await openHttpScene(context)).http({ env });
    const host = "research.example:8443";
    const signedIn = await signIn(server, server.token, { host, origin: `https://${host}` });
    expect(signedIn.status).toBe(200);
    const status = async (path: string, origin: string): Promise<number> =>
      (await ask(server, { method: "POST", path, headers: { host, origin, ...sessionOf(signedIn) } })).status;
    expect(await status("/api/no/such/address", `https://${host}`)).toBe(404);
    expect(await status("/api/no/such/address", "https://research.example")).toBe(403);
    expect(await status("/mcp", `https://${host}`)).toBe(401);
  });

  test("by the same rules where no token is required", async (context) => {
    const server = await (await openHttpScene(context)).http({ args: ["--no-auth"] });
    const status = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
      (await ask(server, { path, headers: { ...HTML, ...headers } })).status;
    expect(await status("/")).not.toBe(OUT);
    expect(await status("/api/runs", { origin: server.url })).not.toBe(403);
    expect(await status("/api/runs", { origin: "http://127.0.0.1:5173" })).toBe(403);
    expect(await status("/api/runs", { origin: "http://127.0.0.1:5173", authorization: "Bearer x" })).toBe(403);
    expect(await status("/api/runs", { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" })).toBe(403);
    const link = await ask(server, { method: "POST", path: "/api/links", headers: {} });
    expect(JSON.parse(link.body)).toEqual({ path: "/" });
    const left = await ask(server, { method: "POST", path: "/sign-out", headers: { origin: server.url } });
    expect(left.status).toBe(204);
  });

  test("from no other page: neither a preflight nor CORS allows it", async (context) => {
    const server = await (await openHttpScene(context)).http();
    const headers = { origin: "http://localhost:5173", "access-control-request-method": "POST" };
    for (const path of ["/api/runs", "/", "/sign-in"]) {
      const answer = await ask(server, { method: "OPTIONS", path, headers });
      expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(answer.status).toBe(OUT);
    }
  });
});

describe("signing in and out (A9)", () => {
  test("the form accepts the server's token and named ones, and says what is wrong with others", async (context) => {
    const scene = await openHttpScene(context);
    const server = await scene.http();
    const ann = (await scene.command(["token", "add", "ann"])).stdout.trim();
    const asked = await ask(server, { path: "/runs/6f9619ff-8b86-4d01-b42d-00cf4fc964ff?a=b", headers: HTML });
    expect(asked.status).toBe(OUT);
    expect(asked.body).toContain('value="/runs/6f9619ff-8b86-4d01-b42d-00cf4fc964ff?a=b"');
    const wrong = await signIn(server, "a-token-that-nobody-has");
    expect(wrong.status).toBe(OUT);
    expect(wrong.body).toContain("The token is not accepted. It is unknown or was revoked.");
    expect(wrong.body).not.toContain("a-token-that-nobody-has");
    expect(wrong.headers).not.toHaveProperty("set-cookie");
    for (const token of [server.token, ` ${ann}\n`]) {
      const right = await signIn(server, token);
      expect([right.status, destinationOf(right.body)]).toEqual([200, "/costs"]);
      expect((await ask(server, { path: "/api/runs", headers: sessionOf(right) })).status).toBe(200);
    }
    const json = await ask(server, { method: "POST", path: "/sign-in", headers: {}, body: "{}" });
    expect(json.status).toBe(400);
    const long = await signIn(server, "x".repeat(20_000));
    expect(long.status).toBe(400);
    expect((await ask(server, { path: "/api/runs", headers: HTML })).headers["content-type"]).toContain("json");
  });

  test("a revoked token signs its browsers out; a restart signs none out", async (context) => {
    const scene = await openHttpScene(context);
    const server = await scene.http();
    const ann = (await scene.command(["token", "add", "ann"])).stdout.trim();
    const [own, anns] = [await enter(server), await enter(server, ann)];
    const second = await scene.http();
    const status = async (session: BrowserHeaders): Promise<number> => {
      const cookie = session.cookie.replace(String(server.port), String(second.port));
      return (await ask(second, { path: "/api/runs", headers: { ...session, cookie } })).status;
    };
    expect(await status(own)).not.toBe(OUT);
    expect(await status(anns)).not.toBe(OUT);
    await scene.command(["token", "revoke", "ann"]);
    expect(await status(anns)).toBe(OUT);
    expect((await ask(server, { path: "/", headers: anns })).status).toBe(OUT);
    expect(await status(own)).not.toBe(OUT);
  });

  test("signing out ends the session and removes the cookie", async (context) => {
    const server = await (await openHttpScene(context)).http();
    const session = await enter(server);
    const out = await ask(server, { method: "POST", path: "/sign-out", headers: session });
    expect(out.status).toBe(204);
    expect(String(out.headers["set-cookie"])).toBe(
      `gemini_search_page_${server.port}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`,
    );
    expect((await ask(server, { path: "/", headers: session })).status).toBe(OUT);
  });

  test("wrong tokens are limited together with those of the protocol, and the right one is still accepted", async (context) => {
    const server = await (await openHttpScene(context)).http();
    const guesses = Array.from({ length: 200 }, (_, at) => `guess-${at}-guess-guess`);
    await Promise.all(
      guesses.map((guess) => ask(server, { path: "/mcp", headers: { authorization: `Bearer ${guess}` } })),
    );
    // One attempt per second is allowed, so not each of these exceeds the limit.
    const tries = await Promise.all(guesses.slice(0, 40).map((guess) => signIn(server, guess)));
    const late = tries.find(({ status }) => status === 429);
    expect(late?.headers).toHaveProperty("retry-after");
    expect(late?.body).toContain("Too many invalid tokens");
    expect((await signIn(server, server.token)).status).toBe(200);
  });
});

test("every response of the page carries these headers (A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const session = await enter(server);
  const CONTENT = new Set(["date", "connection", "keep-alive", "content-length", "content-type", "transfer-encoding"]);
  const shown = ({ headers }: Answered) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !CONTENT.has(name)));
  const powers = expect.stringMatching(/^(?:[a-z-]+=\(\), )+[a-z-]+=\(\)$/);
  const expected = {
    "cache-control": "no-store",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; font-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types report",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": powers,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
  const answers = [
    await ask(server, { path: "/api/no/such/address", headers: session }),
    await ask(server, { path: "/api/runs", headers: {} }),
    await ask(server, { path: "/api/runs", headers: { ...session, origin: "https://evil.example" } }),
    await ask(server, { path: "/", headers: { host: "evil.example" } }),
  ];
  for (const answer of answers) expect(shown(answer)).toEqual(expected);
  // The page has a new nonce at every load, for the styles of Search Suggestions.
  const policies = [1, 2].map(async () =>
    String(shown(await ask(server, { path: "/", headers: { ...HTML, ...session } }))["content-security-policy"]),
  );
  const nonces = (await Promise.all(policies)).map((policy) => {
    const [before, nonce, after] = policy.split(/ 'nonce-([\w-]{22})'/);
    expect(`${before}${after}`).toBe(expected["content-security-policy"]);
    return nonce;
  });
  expect(new Set(nonces).size).toBe(2);
  const signInPage = shown(await ask(server, { path: "/", headers: HTML }));
  expect(signInPage).toEqual({
    ...expected,
    "content-security-policy": expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    ),
    "referrer-policy": "same-origin",
  });
  expect(shown(await ask(server, { path: "/mcp", headers: session }))).toEqual({
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "www-authenticate": "Bearer",
    "x-content-type-options": "nosniff",
  });
});

test("a browser that is sent to an address that does not exist gets a page, signed in or not; programs get JSON (A9)", async (context) => {
  const server = await (await openHttpScene(context)).http();
  const session = await enter(server);
  const browser = { ...HTML, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-site": "none" };
  for (const path of ["/nothing", "/runs/a/b", "/costs/2026", "/favicon.ico/x"]) {
    for (const headers of [browser, { ...browser, ...session }]) {
      const missing = await ask(server, { path, headers });
      expect([missing.status, missing.headers["content-type"]], path).toEqual([404, "text/html; charset=utf-8"]);
      expect(missing.body).toContain("Page not found");
      expect(missing.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    }
  }
  const program = await ask(server, { path: "/nothing", headers: { authorization: `Bearer ${server.token}` } });
  expect([program.status, JSON.parse(program.body).error.message]).toEqual([404, "There is nothing at this URL."]);
});
