/** A process that was too busy or suspended to use its permit in time does not add to the polls of the others. */

import { describe, expect, test } from "vitest";
import { permitStream, rateOf, waitForPermit } from "./permits.ts";
import { msUntilPermit, pauseFor, reservePermits } from "../../store/rate-limiter.ts";
import { openDatabase } from "../../../test/kit/store/store-rows.ts";

const NOW = 1_800_000_000_000;
const rate = { name: "polls", perSecond: 10 };

/** A machine on which the first wait takes longer than it should. */
function lateClock(lateMs: number) {
  const waits: number[] = [];
  let time = 0;
  const sleep = async (ms: number): Promise<void> => {
    time += ms + (waits.length === 0 ? lateMs : 0);
    waits.push(ms);
  };
  return { waits, now: () => NOW, monotonic: () => time, sleep };
}

/** Reserves a permit and waits for it on a machine that is late. */
async function waitLate(lateMs: number, { pausedMs = 0, isScarce = true } = {}) {
  const db = await openDatabase({ stoppedAt: NOW });
  await reservePermits(db, rate, { permits: 3, withinMs: 2_000, now: NOW });
  if (pausedMs > 0) await pauseFor(db, rate.name, { ms: pausedMs, now: NOW });
  const clock = lateClock(lateMs);
  const leaving = new AbortController().signal;
  const permit = await waitForPermit({ db, clock, leaving }, { rate, permits: 1, inMs: 200, isScarce });
  return { permit, waits: clock.waits, nextInMs: await msUntilPermit(db, rate.name, NOW) };
}

describe("a permit", () => {
  test("that is used in time is not replaced (P2)", async () => {
    expect(await waitLate(90)).toEqual({ permit: "valid", waits: [200], nextInMs: 300 });
  });

  test("that could only be used late is replaced by the next free one (P2)", async () => {
    expect(await waitLate(150)).toEqual({ permit: "valid", waits: [200, 300], nextInMs: 400 });
  });

  test("is not replaced while permits are plentiful (P7)", async () => {
    expect(await waitLate(150, { isScarce: false })).toEqual({ permit: "valid", waits: [200], nextInMs: 300 });
  });

  test("that cannot be replaced without a database is put back (P7)", async () => {
    const db = (await openDatabase({ stoppedAt: NOW })).withPlugin({
      transformQuery: () => {
        throw new Error("The database is away.");
      },
      transformResult: async ({ result }) => result,
    });
    const options = { rate, permits: 1, inMs: 200, isScarce: true };
    const leaving = new AbortController().signal;
    expect(await waitForPermit({ db, clock: lateClock(150), leaving }, options)).toEqual({ waitMs: 2_000 });
  });

  test("is not waited for when all polls are paused for long, and none is reserved (P2)", async () => {
    expect(await waitLate(150, { pausedMs: 60_000 })).toEqual({
      permit: { waitMs: 60_000 },
      waits: [200],
      nextInMs: 60_000,
    });
  });
});

test("a stream counts against the rate of polls with the same key (P4)", async () => {
  const db = await openDatabase({ stoppedAt: NOW });
  const access = { key: "a-key", maxRps: 2 };
  await reservePermits(db, rateOf(db, access), { permits: 1, withinMs: 0, now: NOW });
  expect(await permitStream(db, { ...access, now: NOW })).toBe(532);
});

test("only on a shared database has each key a rate of its own (P4)", () => {
  const on = (adapter: { supportsMultipleConnections: boolean }) => ({ getExecutor: () => ({ adapter }) });
  const [file, shared] = [on({ supportsMultipleConnections: false }), on({ supportsMultipleConnections: true })];
  const names = (db: typeof file) => ["one", "two"].map((key) => rateOf(db, { key, maxRps: 1 }).name);
  expect(names(shared)).toEqual(["polls:one", "polls:two"]);
  expect(names(file)).toEqual(["polls", "polls"]);
});
