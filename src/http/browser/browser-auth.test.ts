import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RESOURCE, startIssuer } from "../../../test/kit/services/issuer.ts";
import { browserHeaders, type BrowserHeaders, destinationOf } from "../../../test/kit/browser/page-session.ts";
import { systemClock } from "../../platform/clock.ts";
import { openStore, type Store } from "../../store/store.ts";
import { createCredentials, type Credentials } from "../auth/authenticate.ts";
import { createBrowserAuth, type BrowserAuth } from "./browser-auth.ts";
import { makeLink } from "./sessions.ts";
import { addToken, revokeToken } from "../auth/tokens.ts";
import { createEndWhenRevoked } from "../revocation.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

const OWN = "the-servers-own-token";
const DAY = 24 * 3_600_000;
const HOST = "127.0.0.1:3000";
const ABOUT = { address: "192.0.2.7" };
/** The remote address as the Node server passes it on. */
const CONNECTION = { incoming: { socket: { remoteAddress: ABOUT.address, remotePort: 1, remoteFamily: "IPv4" } } };

let directory: string;
let store: Store;
let time: number;
const clock = { ...systemClock, now: () => time };

beforeEach(async () => {
  time = Date.now();
  directory = mkdtempSync(join(tmpdir(), "gemini-search-browser-auth-"));
  store = await openStore({ file: join(directory, "deep_research.db"), clock, log });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Scene {
  browserAuth: BrowserAuth;
  credentials: Credentials;
  /** Requests one of the login routes, without the authentication in between. */
  ask(path: string, init?: RequestInit): Promise<Response>;
}

async function open({ token = OWN, issuer, publicUrl }: { token?: string; issuer?: string; publicUrl?: string } = {}) {
  const settings = { MCP_AUTH_TOKEN: token, MCP_OAUTH_ISSUER: issuer, MCP_PUBLIC_URL: publicUrl };
  const config = { configDir: directory, configDirWritable: true, settings };
  const app = { config, log, deps: { database: async () => store.db, clock } };
  const credentials = await createCredentials(app, { noAuth: false });
  if (credentials === undefined) throw new Error("A token is required.");
  const browserAuth = createBrowserAuth(app, credentials, () => [HOST]);
  const http = new Hono().route("/", browserAuth.publicRoutes).route("/", browserAuth.sessionRoutes);
  const ask: Scene["ask"] = async (path, init = {}) =>
    http.request(
      `http://${HOST}${path}`,
      { ...init, headers: { host: HOST, ...Object.fromEntries(new Headers(init.headers)) } },
      CONNECTION,
    );
  return { browserAuth, credentials, ask } satisfies Scene;
}

const sessionOf = async (response: Response): Promise<BrowserHeaders> =>
  browserHeaders({ body: await response.text(), setCookie: response.headers.get("set-cookie") ?? "" });

/** Signs in as the form does. */
const signIn = ({ ask }: Scene, token: string, headers: Record<string, string> = {}): Promise<Response> =>
  ask("/sign-in", { method: "POST", body: new URLSearchParams({ token, to: "/figures" }), headers });

const come = ({ browserAuth }: Scene, session: BrowserHeaders, path = "/", headers: Record<string, string> = {}) =>
  browserAuth.admit(new Request(`http://${HOST}${path}`, { headers: { host: HOST, ...session, ...headers } }), {
    ...ABOUT,
    path,
  });

const statusOf = (answer: Awaited<ReturnType<BrowserAuth["admit"]>>): number | string =>
  answer instanceof Response ? answer.status : answer.caller.owner;

describe("a signed-in browser (A9)", () => {
  test("has the owner of its token, and no other", async () => {
    const scene = await open();
    const ann = await addToken(store.db, { name: "ann", now: time });
    const own = await sessionOf(await signIn(scene, OWN));
    const anns = await sessionOf(await signIn(scene, ann));
    expect(await come(scene, own)).toMatchObject({ caller: { owner: "local", from: "network" }, budget: "page local" });
    expect(await come(scene, anns, "/api/runs")).toMatchObject({ caller: { owner: "ann" }, budget: "page ann" });
    expect(await come(scene, anns, "/assets/page.js")).toMatchObject({ budget: "files ann" });
    const link = await makeLink(store.db, { owner: "ann", tokenHash: "0".repeat(64) }, { address: HOST, now: time });
    expect((await scene.ask(`/enter/${link}`)).status).toBe(401);
  });

  test("is signed out when its token is revoked, even if the name gets another one, and its stream ends", async () => {
    const scene = await open();
    const session = await sessionOf(await signIn(scene, await addToken(store.db, { name: "ann", now: time })));
    const link = new URL((await linkFor(scene, "ann")).path, `http://${HOST}`).pathname;
    expect(statusOf(await come(scene, session))).toBe("ann");
    const admitted = await come(scene, session, "/api/live");
    const { credential } = admitted instanceof Response ? {} : admitted;
    const endWhenRevoked = createEndWhenRevoked({ findRevoked: scene.credentials.findRevoked, checkEveryMs: 1 });
    const body = new ReadableStream<Uint8Array>();
    const stream = endWhenRevoked(new Response(body, { headers: { "content-type": "text/event-stream" } }), credential);
    await revokeToken(store.db, { name: "ann", now: time });
    await addToken(store.db, { name: "ann", now: time });
    expect(await stream.text()).toBe("");
    expect(statusOf(await come(scene, session))).toBe(401);
    expect((await scene.ask(link)).status).toBe(401);
  });

  test("is signed out when the server gets another token, and signed in again with the former one", async () => {
    const session = await sessionOf(await signIn(await open(), OWN));
    expect(statusOf(await come(await open({ token: "quite-another-token" }), session))).toBe(401);
    expect(statusOf(await come(await open(), session))).toBe("local");
  });

  test("stays signed in for 30 days after its last request, and gets a longer cookie then", async () => {
    const scene = await open();
    const session = await sessionOf(await signIn(scene, OWN));
    expect(await come(scene, session)).toMatchObject({ cookie: undefined });
    time += DAY;
    const renewed = await come(scene, session);
    expect(renewed).toMatchObject({ cookie: `${session.cookie}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict` });
    time += 30 * DAY;
    expect(statusOf(await come(scene, session))).toBe(401);
  });

  test("with a token of an issuer stays signed in as long as that token is valid", async (context) => {
    const issuer = await startIssuer();
    context.onTestFinished(issuer.close);
    const scene = await open({ issuer: issuer.url, publicUrl: new URL(RESOURCE).origin });
    const expires = Math.floor(time / 1_000) + 600;
    const answer = await signIn(scene, await issuer.token({ exp: expires }));
    expect(answer.headers.get("set-cookie")).toMatch(/; Max-Age=(?:600|599);/);
    const session = await sessionOf(answer);
    expect(statusOf(await come(scene, session))).toBe(`oauth:${issuer.mark}:ann`);
    expect(statusOf(await come(await open(), session))).toBe(401);
    time = expires * 1_000;
    expect(statusOf(await come(scene, session))).toBe(401);
  });
});

async function linkFor({ credentials }: Scene, owner: string): Promise<{ path: string }> {
  const rows = await store.db.selectFrom("page_keys").selectAll().where("owner", "=", owner).execute();
  const tokenHash = rows[0]?.token_hash ?? credentials.own.tokenHash;
  return { path: `/enter/${await makeLink(store.db, { owner, tokenHash }, { address: HOST, now: time })}` };
}

describe("the cookie (A9)", () => {
  test("is for one port, not readable by scripts and other sites, and Secure with TLS", async () => {
    const scene = await open({ publicUrl: "https://research.example" });
    const plain = await signIn(scene, OWN);
    expect(plain.headers.get("set-cookie")).toMatch(
      /^gemini_search_page_3000=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const proxied = await signIn(scene, OWN, { host: "research.example", origin: "https://research.example" });
    expect(proxied.headers.get("set-cookie")).toMatch(/^gemini_search_page_80=.*; HttpOnly; Secure; SameSite=Strict$/);
    expect(statusOf(await come(scene, await sessionOf(plain), "/", { host: "127.0.0.1:3001" }))).toBe(401);
    expect(statusOf(await come(scene, { cookie: "gemini_search_page_3000=short", "x-page-secret": "" }))).toBe(401);
  });
});

describe("the cookie without the page's secret", () => {
  test("opens the files of the page, which are the same for every user, and nothing that reads or acts (A9)", async () => {
    const scene = await open();
    const ann = await sessionOf(await signIn(scene, await addToken(store.db, { name: "ann", now: time })));
    const { cookie, "x-page-secret": secret } = await sessionOf(await signIn(scene, OWN));
    const status = async (path: string, sent: string) =>
      statusOf(await come(scene, { cookie, "x-page-secret": sent }, path));
    for (const path of ["/api/runs", "/api/live", "/api/no/such/address", "/sign-out", "/runs/x/y", "/enter/x"]) {
      for (const wrong of ["", "x", secret.slice(1), ann["x-page-secret"], cookie.split("=")[1] ?? ""]) {
        expect([path, wrong, await status(path, wrong)]).toEqual([path, wrong, 401]);
      }
      expect(await status(path, secret)).toBe("local");
    }
    for (const path of ["/", "/runs/x", "/assets/page.js"]) expect(await status(path, "")).toBe("local");
    // A secret without its cookie is not accepted.
    expect(statusOf(await come(scene, { cookie: "", "x-page-secret": secret }, "/api/runs"))).toBe(401);
  });

  test("does not yield the secret, whatever is requested (A9)", async () => {
    const scene = await open();
    const { path } = await linkFor(scene, "local");
    const entered = await sessionOf(await scene.ask(path));
    const { cookie } = entered;
    for (const asked of [path, "/sign-in", "/sign-in?to=/figures"]) {
      const answer = await scene.ask(asked, { headers: { cookie } });
      expect(await answer.text()).not.toContain(entered["x-page-secret"]);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });
});

describe("a link (A9)", () => {
  const RUN = "/runs/6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
  const SENT = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

  test("of a named user signs in only after the user confirmed the name, from wherever it was opened (T13)", async () => {
    const scene = await open();
    await signIn(scene, await addToken(store.db, { name: "ann", now: time }));
    const { path } = await linkFor(scene, "ann");
    const address = `${path}?to=${encodeURIComponent(RUN)}`;
    expect((await scene.ask(address, { method: "HEAD" })).status).toBe(405);
    const own = await sessionOf(await signIn(scene, OWN));
    const origins: Record<string, string>[] = [
      SENT,
      { ...SENT, "sec-fetch-site": "none" },
      { ...SENT, "sec-fetch-site": "same-origin" },
      {},
      { cookie: own.cookie },
    ];
    for (const headers of origins) {
      const asked = await scene.ask(address, { headers });
      expect([headers, asked.status, asked.headers.get("set-cookie")]).toEqual([headers, 200, null]);
      const text = await asked.text();
      expect(text).toContain("<h1>Sign in as ann?</h1>");
      expect(text).toContain(`<form method="post" action="${address}">`);
    }
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      const forged = await scene.ask(address, { method: "POST", headers });
      expect([headers, forged.status, forged.headers.get("set-cookie")]).toEqual([headers, 403, null]);
    }
    const used = await scene.ask(address, { method: "POST", headers: { origin: `http://${HOST}` } });
    expect([used.status, destinationOf(await used.clone().text())]).toEqual([200, RUN]);
    const { cookie } = await sessionOf(used);
    // An old login link still redirects a signed-in browser.
    const again = await scene.ask(address, { headers: { cookie } });
    expect([again.status, again.headers.get("location"), again.headers.get("set-cookie")]).toEqual([303, RUN, null]);
    expect((await scene.ask(address)).status).toBe(401);
    // A request that extends the session gets a new cookie.
    time += DAY;
    const later = await scene.ask(address, { headers: { cookie } });
    expect(later.headers.get("set-cookie")).toContain("Max-Age=2592000");
  });

  test("of the local user is used by any top-level navigation, and by nothing else", async () => {
    const scene = await open();
    const { path } = await linkFor(scene, "local");
    const address = `${path}?to=${encodeURIComponent(RUN)}`;
    for (const other of [{ "sec-fetch-mode": "no-cors" }, { "sec-fetch-dest": "iframe" }]) {
      expect((await scene.ask(address, { headers: { ...SENT, ...other } })).headers.get("set-cookie")).toBeNull();
    }
    const sent = await scene.ask(address, { headers: SENT });
    expect([sent.status, destinationOf(await sent.clone().text())]).toEqual([200, RUN]);
    expect(statusOf(await come(scene, await sessionOf(sent)))).toBe("local");
    expect((await scene.ask(address, { headers: SENT })).headers.get("set-cookie")).toBeNull();
  });

  test("that was made with another token is rejected with that reason", async () => {
    const { path } = await linkFor(await open({ token: "quite-another-token" }), "local");
    const answer = await (await open()).ask(path, { headers: { accept: "text/html" } });
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain("a different token than this server has now. Set MCP_AUTH_TOKEN");
  });

  test("expires after two minutes, and guesses are limited", async () => {
    const scene = await open();
    const { path } = await linkFor(scene, "local");
    time += 2 * 60_000;
    const late = await scene.ask(path, { headers: { accept: "text/html" } });
    expect(late.status).toBe(401);
    expect(await late.text()).toContain("gemini-search-mcp open");
    const tries = await Promise.all(Array.from({ length: 300 }, (_, at) => scene.ask(`/enter/guess${at}`)));
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([401, 429]));
  });

  test("is shown as text, never as HTML", async () => {
    const scene = await open();
    const headers = { "sec-fetch-site": "cross-site", accept: "text/html" };
    const answer = await scene.ask(`/enter/${encodeURIComponent('"><script>alert(1)</script>')}`, { headers });
    expect(await answer.text()).not.toContain("<script>alert");
  });
});
