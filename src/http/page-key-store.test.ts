import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../platform/clock.ts";
import { createLog } from "../platform/log.ts";
import { openStore, type Store } from "../store/store.ts";
import { endSession, findSession, type KeyHolder, makeLink, openSession, useLink } from "./page-key-store.ts";
import { hashToken } from "./tokens.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = 1_000_000_000;
const ANN: KeyHolder = { owner: "ann", tokenHash: hashToken("ann's token"), tokenExpiresAt: undefined };

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "gemini-search-page-keys-"));
  const log = createLog({ from: "ERROR", format: "text", redact: (text) => text });
  store = await openStore({ file: join(directory, "deep_research.db"), clock: systemClock, log });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const rows = () => store.db.selectFrom("page_keys").selectAll().execute();

describe("A9 a link", () => {
  test("is good once, for two minutes", async () => {
    const code = await makeLink(store.db, ANN, NOW);
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(await useLink(store.db, code, NOW + 2 * MINUTE - 1)).toEqual(ANN);
    expect(await useLink(store.db, code, NOW + 1)).toBeUndefined();
    const late = await makeLink(store.db, ANN, NOW);
    expect(await useLink(store.db, late, NOW + 2 * MINUTE)).toBeUndefined();
  });

  test("lets one in of many who use it at once", async () => {
    const code = await makeLink(store.db, ANN, NOW);
    const all = await Promise.all(Array.from({ length: 20 }, () => useLink(store.db, code, NOW + 1)));
    expect(all.filter((holder) => holder !== undefined)).toEqual([ANN]);
  });

  test("is no session, and a session is no link", async () => {
    const code = await makeLink(store.db, ANN, NOW);
    const { key } = await openSession(store.db, ANN, NOW);
    expect(await findSession(store.db, code, { now: NOW, renew: true })).toBeUndefined();
    expect(await useLink(store.db, key, NOW)).toBeUndefined();
  });
});

describe("A9 a session", () => {
  test("lasts 30 days from its last use, and is lengthened once a day at most", async () => {
    const { key, expiresAt } = await openSession(store.db, ANN, NOW);
    expect(expiresAt).toBe(NOW + 30 * DAY);
    expect(await findSession(store.db, key, { now: NOW + DAY - 1, renew: true })).toEqual({
      ...ANN,
      renewed: false,
      expiresAt,
    });
    const slid = NOW + 31 * DAY;
    expect(await findSession(store.db, key, { now: NOW + DAY, renew: true })).toEqual({
      ...ANN,
      renewed: true,
      expiresAt: slid,
    });
    expect(await findSession(store.db, key, { now: NOW + DAY + 1, renew: true })).toEqual({
      ...ANN,
      renewed: false,
      expiresAt: slid,
    });
    expect(await findSession(store.db, key, { now: slid, renew: true })).toBeUndefined();
  });

  test("is not lengthened where the browser cannot be told, so that it is the next time", async () => {
    const { key, expiresAt } = await openSession(store.db, ANN, NOW);
    const quietly = await findSession(store.db, key, { now: NOW + DAY, renew: false });
    expect(quietly).toEqual({ ...ANN, renewed: false, expiresAt });
    expect(await findSession(store.db, key, { now: NOW + DAY, renew: true })).toMatchObject({ renewed: true });
  });

  test("does not outlive a token that runs out", async () => {
    const holder = { ...ANN, tokenExpiresAt: NOW + 40 * DAY };
    const { key, expiresAt } = await openSession(store.db, holder, NOW);
    expect(expiresAt).toBe(NOW + 30 * DAY);
    const last = await findSession(store.db, key, { now: NOW + 29 * DAY, renew: true });
    expect(last).toEqual({ ...holder, renewed: true, expiresAt: NOW + 40 * DAY });
    expect(await findSession(store.db, key, { now: NOW + 40 * DAY, renew: true })).toBeUndefined();
  });

  test("ends when it is ended, and only that one", async () => {
    const [one, other] = [await openSession(store.db, ANN, NOW), await openSession(store.db, ANN, NOW)];
    await endSession(store.db, one.key);
    expect(await findSession(store.db, one.key, { now: NOW, renew: true })).toBeUndefined();
    expect(await findSession(store.db, other.key, { now: NOW, renew: true })).toMatchObject({ owner: "ann" });
  });
});

test("A9 what has expired is swept when a key is made, and keys are kept as hashes only", async () => {
  const code = await makeLink(store.db, ANN, NOW);
  const { key } = await openSession(store.db, ANN, NOW + MINUTE);
  expect(await rows()).toHaveLength(2);
  await makeLink(store.db, ANN, NOW + 2 * MINUTE);
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
  for (const secret of [code, key]) expect(files.join("")).not.toContain(secret);
});
