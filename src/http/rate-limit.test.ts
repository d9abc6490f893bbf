import { describe, expect, test } from "vitest";
import { createFailedLogins, networkOf } from "./auth/authenticate.ts";
import { createBuckets, createRateLimit } from "./rate-limit.ts";
import { createTestLog } from "../../test/kit/log.ts";

const times = <T>(count: number, act: () => T): T[] => Array.from({ length: count }, act);

describe("the rate limit (A9)", () => {
  test("allows a minute's requests at once, then one at a time as the bucket refills", async () => {
    let time = 0;
    const limit = createRateLimit({ perMinute: 60, now: () => time });
    expect(times(60, () => limit("ann"))).toEqual(times(60, () => undefined));
    const refused = limit("ann");
    expect(refused?.status).toBe(429);
    expect(refused?.headers.get("retry-after")).toBe("1");
    expect(await refused?.json()).toEqual({
      success: false,
      error: {
        code: "BUSY",
        message: "More than 60 requests in a minute.",
        suggestion: "Try again in 1 s.",
      },
    });
    time += 1_000;
    expect(limit("ann")).toBeUndefined();
    expect(limit("ann")?.status).toBe(429);
    time += 3_600_000;
    expect(times(61, () => limit("ann")?.status).filter((status) => status === 429)).toHaveLength(1);
  });

  test("counts each caller separately, and is off at 0", () => {
    const limit = createRateLimit({ perMinute: 1, now: () => 0 });
    expect(limit("ann")).toBeUndefined();
    expect(limit("bob")).toBeUndefined();
    expect(limit("ann")?.headers.get("retry-after")).toBe("60");
    const off = createRateLimit({ perMinute: 0 });
    expect(times(10_000, () => off("ann")).every((answer) => answer === undefined)).toBe(true);
  });

  test("keeps a bounded number of callers, and drops the least recent", () => {
    const take = createBuckets({ perMinute: 1, now: () => 0, maxKeys: 2 });
    expect([take("ann"), take("bob")]).toEqual([0, 0]);
    expect(take("ann")).toBeGreaterThan(0);
    expect(take("cid")).toBe(0);
    expect(take("ann")).toBeGreaterThan(0);
    expect(take("bob")).toBe(0);
  });
});

describe("wrong tokens (A9)", () => {
  test("are answered with 429 above a limit, which is logged once a minute", () => {
    const lines: string[] = [];
    const log = createTestLog((line) => lines.push(line), "INFO");
    let time = 0;
    const failed = createFailedLogins({ log, now: () => time });
    expect(times(60, () => failed("192.0.2.7"))).toEqual(times(60, () => undefined));
    expect(times(1_000, () => failed("192.0.2.7")?.status)).toEqual(times(1_000, () => 429));
    expect(failed("::ffff:192.0.2.7")?.status).toBe(429);
    expect(failed("192.0.2.8")).toBeUndefined();
    expect(lines).toEqual(["[WARN] Too many invalid tokens from 192.0.2.7; rejecting them with 429.\n"]);
    time += 60_000;
    expect(failed("192.0.2.7")).toBeUndefined();
  });

  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::FFFF:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"],
    ["", ""],
    ["a socket", "a socket"],
  ])("from %s are counted for %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
