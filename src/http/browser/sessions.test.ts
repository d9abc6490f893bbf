import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { openStore, type Store } from "../../store/store.ts";
import { endSession, findSession, type KeyHolder, makeLink, openSession, useLink } from "./sessions.ts";
import { hashToken } from "../auth/tokens.ts";
import { silentLog as log } from "../../../test/kit/log.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = 1_000_000_000;
const HERE = "127.0.0.1:3000";
const ANN: KeyHolder = { owner: "ann", tokenHash: hashToken("ann's token"), tokenExpiresAt: undefined };

/** A session found without its secret. */
const FOUND = { ...ANN, hasSecret: false };

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-page-keys-"));
  store = await openStore({ file: join(directory, "deep_research.db"), clock: systemClock, log });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const rows = () => store.db.selectFrom("page_keys").selectAll().execute();

describe("a link (A9)", () => {
  test("is valid once, for two minutes", async () => {
    const code = await makeLink(store.db, ANN, { address: HERE, now: NOW });
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(await useLink(store.db, code, { addresses: [HERE], now: NOW + 2 * MINUTE - 1 })).toEqual(ANN);
    expect(await useLink(store.db, code, { addresses: [HERE], now: NOW + 1 })).toBeUndefined();
    const late = await makeLink(store.db, ANN, { address: HERE, now: NOW });
    expect(await useLink(store.db, late, { addresses: [HERE], now: NOW + 2 * MINUTE })).toBeUndefined();
  });

  test("is valid at the server it was made for, and is not used up by another", async () => {
    const code = await makeLink(store.db, ANN, { address: HERE, now: NOW });
    const at = (...addresses: string[]) => useLink(store.db, code, { addresses, now: NOW });
    expect(await at("127.0.0.1:3001", "localhost:3001")).toBeUndefined();
    expect(await at("127.0.0.2:3000")).toBeUndefined();
    expect(await at("localhost:3000", HERE)).toEqual(ANN);
  });

  test("signs in one of many concurrent requests", async () => {
    const code = await makeLink(store.db, ANN, { address: HERE, now: NOW });
    const all = await Promise.all(
      Array.from({ length: 20 }, () => useLink(store.db, code, { addresses: [HERE], now: NOW + 1 })),
    );
    expect(all.filter((holder) => holder !== undefined)).toEqual([ANN]);
  });

  test("is not accepted as a session, nor a session as a link", async () => {
    const code = await makeLink(store.db, ANN, { address: HERE, now: NOW });
    const { key } = await openSession(store.db, ANN, NOW);
    expect(await findSession(store.db, code, { now: NOW, secret: undefined })).toBeUndefined();
    expect(await useLink(store.db, key, { addresses: [HERE], now: NOW })).toBeUndefined();
  });
});

describe("a session (A9)", () => {
  test("lasts 30 days from its last use, and is extended once a day at most", async () => {
    const { key, expiresAt } = await openSession(store.db, ANN, NOW);
    expect(expiresAt).toBe(NOW + 30 * DAY);
    expect(await findSession(store.db, key, { now: NOW + DAY - 1, secret: undefined })).toEqual({
      ...FOUND,
      sessionHash: hashToken(key),
      renewed: false,
      expiresAt,
    });
    const slid = NOW + 31 * DAY;
    expect(await findSession(store.db, key, { now: NOW + DAY, secret: undefined })).toEqual({
      ...FOUND,
      sessionHash: hashToken(key),
      renewed: true,
      expiresAt: slid,
    });
    // The extension is stored after the answer, because it must not delay it. A use before that extends it to the same end.
    await expect
      .poll(() => findSession(store.db, key, { now: NOW + DAY, secret: undefined }))
      .toEqual({ ...FOUND, sessionHash: hashToken(key), renewed: false, expiresAt: slid });
    expect(await findSession(store.db, key, { now: slid, secret: undefined })).toBeUndefined();
  });

  test("has a secret besides its key, which is valid for it alone", async () => {
    const [one, other] = [await openSession(store.db, ANN, NOW), await openSession(store.db, ANN, NOW)];
    const hasSecret = async (secret: string | undefined): Promise<boolean | undefined> =>
      (await findSession(store.db, one.key, { now: NOW, secret }))?.hasSecret;
    expect(await hasSecret(one.secret)).toBe(true);
    for (const wrong of [undefined, "", one.key, other.secret]) expect(await hasSecret(wrong)).toBe(false);
    // Without a stored secret, none is accepted.
    await store.db.updateTable("page_keys").set({ secret_hash: null }).execute();
    expect(await hasSecret(one.secret)).toBe(false);
  });

  test("does not outlive a token that expires", async () => {
    const holder = { ...ANN, tokenExpiresAt: NOW + 40 * DAY };
    const { key, expiresAt } = await openSession(store.db, holder, NOW);
    expect(expiresAt).toBe(NOW + 30 * DAY);
    const last = await findSession(store.db, key, { now: NOW + 29 * DAY, secret: undefined });
    expect(last).toMatchObject({ ...holder, renewed: true, expiresAt: NOW + 40 * DAY });
    expect(await findSession(store.db, key, { now: NOW + 40 * DAY, secret: undefined })).toBeUndefined();
  });

  test("ends alone when it is signed out", async () => {
    const [one, other] = [await openSession(store.db, ANN, NOW), await openSession(store.db, ANN, NOW)];
    await endSession(store.db, one.key);
    expect(await findSession(store.db, one.key, { now: NOW, secret: undefined })).toBeUndefined();
    expect(await findSession(store.db, other.key, { now: NOW, secret: undefined })).toMatchObject({ owner: "ann" });
  });
});

test("expired keys are deleted when a key is created, and keys are stored as hashes only (A9)", async () => {
  const code = await makeLink(store.db, ANN, { address: HERE, now: NOW });
  const { key, secret: pageSecret } = await openSession(store.db, ANN, NOW + MINUTE);
  expect(await rows()).toHaveLength(2);
  await makeLink(store.db, ANN, { address: HERE, now: NOW + 2 * MINUTE });
  expect((await rows()).map(({ kind, created_at }) => [kind, created_at])).toEqual(
    expect.arrayContaining([
      ["session", NOW + MINUTE],
      ["link", NOW + 2 * MINUTE],
    ]),
  );
  expect(await rows()).toHaveLength(2);
  const files = ["deep_research.db", "deep_research.db-wal"].map((name) =>
    readFileSync(join(directory, name), "latin1"),
  );
  expect(files.join("")).toContain(hashToken(key));
  for (const secret of [code, key, pageSecret]) expect(files.join("")).not.toContain(secret);
});
