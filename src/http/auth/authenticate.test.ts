import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sharedFor } from "../../../test/kit/store/databases.ts";
import { RESOURCE, startIssuer } from "../../../test/kit/services/issuer.ts";
import { AppError } from "../../errors.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { openStore, type Store } from "../../store/store.ts";
import { type Authenticate, type Authenticated, createAuthenticate, createCredentials } from "./authenticate.ts";
import { addToken, listTokens, revokeToken } from "./tokens.ts";
import { createTestLog } from "../../../test/kit/log.ts";

const OWN = "the-servers-own-token";
const ADDRESS = { address: "192.0.2.7" };
let directory: string;
let store: Store;
let lines: string[];
let time: number;
const log = createTestLog((line) => lines.push(line));
const clock = { ...systemClock, now: () => time };

beforeEach(async () => {
  lines = [];
  time = 1_000_000;
  directory = mkdtempSync(join(tmpdir(), "gemini-search-authenticate-"));
  const file = join(directory, "deep_research.db");
  store = await openStore({ file, shared: await sharedFor(file), clock, log });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Setup {
  issuer?: string;
  noAuth?: boolean;
  database?: () => Promise<Database>;
}

async function createTestAuthenticate({
  issuer,
  noAuth = false,
  database = async () => store.db,
}: Setup = {}): Promise<Authenticate> {
  const settings = { MCP_AUTH_TOKEN: OWN, MCP_OAUTH_ISSUER: issuer, MCP_PUBLIC_URL: new URL(RESOURCE).origin };
  const config = { configDir: directory, configDirWritable: true, settings };
  return createAuthenticate(await createCredentials({ config, log, deps: { database, clock } }, { noAuth }));
}

const request = (token?: string, url = "http://127.0.0.1:3000/mcp", more: Record<string, string> = {}): Request =>
  new Request(url, { headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...more } });

interface Refused {
  status: number;
  challenge: string | null;
  retryAfter: string | null;
  body: unknown;
}

const refused = async (answer: Authenticated | Response): Promise<Refused> => {
  if (!(answer instanceof Response)) throw new Error("It was let in.");
  const { status, headers } = answer;
  const body: unknown = await answer.json();
  return { status, challenge: headers.get("www-authenticate"), retryAfter: headers.get("retry-after"), body };
};

describe("authentication (A9)", () => {
  test("the server's own token belongs to the local owner, over the network", async () => {
    expect(await (await createTestAuthenticate())(request(OWN), ADDRESS)).toMatchObject({
      caller: { owner: "local", from: "network" },
    });
  });

  test("a named token belongs to its name until it is revoked", async () => {
    const authenticate = await createTestAuthenticate();
    const ann = await addToken(store.db, { name: "ann", now: time });
    const bob = await addToken(store.db, { name: "bob", now: time });
    expect(await authenticate(request(ann), ADDRESS)).toMatchObject({ caller: { owner: "ann", from: "network" } });
    expect(await authenticate(request(bob), ADDRESS)).toMatchObject({ caller: { owner: "bob", from: "network" } });
    await revokeToken(store.db, { name: "ann", now: time });
    expect(await refused(await authenticate(request(ann), ADDRESS))).toMatchObject({ status: 401 });
    expect(await authenticate(request(bob), ADDRESS)).toMatchObject({ caller: { owner: "bob", from: "network" } });
    const again = await addToken(store.db, { name: "ann", now: time });
    expect(await authenticate(request(again), ADDRESS)).toMatchObject({ caller: { owner: "ann", from: "network" } });
    expect(await refused(await authenticate(request(ann), ADDRESS))).toMatchObject({ status: 401 });
  });

  test("updates the last use of its token at most once a minute", async () => {
    const authenticate = await createTestAuthenticate();
    const ann = await addToken(store.db, { name: "ann", now: time });
    for (const [later, lastUsedAt] of [
      [0, 1_000_000],
      [59_999, 1_000_000],
      [1, 1_060_000],
    ] as const) {
      time += later;
      await authenticate(request(ann), ADDRESS);
      // Stored after the answer, because it must not delay it.
      await expect.poll(async () => (await listTokens(store.db))[0]?.lastUsedAt).toBe(lastUsedAt);
    }
  });

  test("without a token gets a 401 that reveals nothing else", async () => {
    const authenticate = await createTestAuthenticate();
    const answer = await refused(await authenticate(request(), ADDRESS));
    expect(answer).toEqual({
      status: 401,
      challenge: "Bearer",
      retryAfter: null,
      body: {
        success: false,
        error: { code: "PERMISSION_DENIED", message: "A token is required.", suggestion: expect.any(String) },
      },
    });
    const elsewhere = request(undefined, `http://127.0.0.1:3000/mcp?access_token=${OWN}&token=${OWN}`, {
      cookie: `token=${OWN}`,
      "x-api-key": OWN,
    });
    expect(await refused(await authenticate(elsewhere, ADDRESS))).toEqual(answer);
  });

  test("with a wrong token is rejected, whatever it resembles", async () => {
    const authenticate = await createTestAuthenticate();
    const wrong = [OWN.slice(0, -1), `${OWN}x`, OWN.toUpperCase(), "a.b.c", "' or 1=1 --".replaceAll(" ", "")];
    for (const token of wrong) {
      expect(await refused(await authenticate(request(token), ADDRESS))).toMatchObject({
        status: 401,
        challenge: 'Bearer error="invalid_token", error_description="It is unknown or was revoked."',
      });
    }
    expect(lines.join("")).not.toContain(OWN);
  });

  test("after too many wrong tokens is limited, but not with a right one", async () => {
    const authenticate = await createTestAuthenticate();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 200; attempt += 1) {
      statuses.push((await refused(await authenticate(request(`wrong-${attempt}`), ADDRESS))).status);
    }
    expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 401));
    expect(await refused(await authenticate(request("wrong"), ADDRESS))).toMatchObject({
      status: 429,
      retryAfter: "1",
    });
    expect(await authenticate(request(OWN), ADDRESS)).toMatchObject({ caller: { owner: "local", from: "network" } });
    expect(await refused(await authenticate(request("wrong"), { address: "192.0.2.8" }))).toMatchObject({
      status: 401,
    });
    expect(lines.filter((line) => line.includes("invalid tokens"))).toHaveLength(1);
  });

  test("with a named token during a database failure is not called unauthorized; the server's own token still works", async () => {
    const database = (): Promise<Database> =>
      Promise.reject(new AppError({ code: "SQLITE_ERROR", message: "A database request failed." }));
    const authenticate = await createTestAuthenticate({ database });
    expect(await refused(await authenticate(request("a-named-token"), ADDRESS))).toMatchObject({
      status: 503,
      body: { error: { code: "SQLITE_ERROR" } },
    });
    expect(await authenticate(request(OWN), ADDRESS)).toMatchObject({ caller: { owner: "local", from: "network" } });
  });

  test("is of the local user when authentication is off, which is logged", async () => {
    const authenticate = await createTestAuthenticate({ noAuth: true });
    expect(await authenticate(request(), ADDRESS)).toMatchObject({ caller: { owner: "local", from: "network" } });
    expect(lines).toEqual([expect.stringMatching(/^\[WARN\] No token is required/)]);
  });
});

describe("with an issuer configured (A9)", () => {
  const METADATA = 'resource_metadata="https://research.example.com/.well-known/oauth-protected-resource/mcp"';

  test("its tokens, named ones and the server's own are accepted, each as another owner", async (context) => {
    const issuer = await startIssuer();
    context.onTestFinished(issuer.close);
    const authenticate = await createTestAuthenticate({ issuer: issuer.url });
    const local = await addToken(store.db, { name: "ann", now: time });
    expect(await authenticate(request(await issuer.token()), ADDRESS)).toMatchObject({
      caller: { owner: `oauth:${issuer.mark}:ann`, from: "network" },
    });
    expect(await authenticate(request(await issuer.token({ sub: "local" })), ADDRESS)).toMatchObject({
      caller: { owner: `oauth:${issuer.mark}:local`, from: "network" },
    });
    expect(await authenticate(request(local), ADDRESS)).toMatchObject({ caller: { owner: "ann", from: "network" } });
    expect(await authenticate(request(OWN), ADDRESS)).toMatchObject({ caller: { owner: "local", from: "network" } });
  });

  test("a rejection names the issuer and the reason", async (context) => {
    const issuer = await startIssuer();
    context.onTestFinished(issuer.close);
    const authenticate = await createTestAuthenticate({ issuer: issuer.url });
    expect((await refused(await authenticate(request(), ADDRESS))).challenge).toBe(`Bearer ${METADATA}`);
    const expired = await issuer.token({ exp: 1 });
    expect((await refused(await authenticate(request(expired), ADDRESS))).challenge).toBe(
      `Bearer error="invalid_token", error_description="It has expired.", ${METADATA}`,
    );
    for (const token of [issuer.unsigned(), await issuer.confused(), await issuer.forged()]) {
      expect(await refused(await authenticate(request(token), ADDRESS))).toMatchObject({ status: 401 });
    }
  });

  test("its tokens are unavailable while it is down, the others are not", async () => {
    const issuer = await startIssuer();
    const authenticate = await createTestAuthenticate({ issuer: issuer.url });
    await issuer.close();
    expect(await refused(await authenticate(request(await issuer.token()), ADDRESS))).toEqual({
      status: 503,
      challenge: null,
      retryAfter: "5",
      body: {
        success: false,
        error: {
          code: "BUSY",
          message: "The token cannot be checked because its OAuth issuer cannot be reached.",
          suggestion: expect.any(String),
        },
      },
    });
    const ann = await addToken(store.db, { name: "ann", now: time });
    expect(await authenticate(request(ann), ADDRESS)).toMatchObject({ caller: { owner: "ann", from: "network" } });
    expect(await authenticate(request(OWN), ADDRESS)).toMatchObject({ caller: { owner: "local", from: "network" } });
  });

  test("an invalid issuer setting fails the start", async () => {
    await expect(createTestAuthenticate({ issuer: "http://login.example" })).rejects.toThrow(
      "MCP_OAUTH_ISSUER cannot be used.",
    );
  });
});
