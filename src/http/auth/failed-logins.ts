/** Rate limit for wrong tokens, per network address, so that guessing is slow and the log stays short. */

import { isIPv6 } from "node:net";
import type { Log } from "../../platform/log.ts";
import { createBuckets, tooMany } from "../rate-limit.ts";

const PER_MINUTE = 60;

/** Counts one wrong token; returns a response when there were too many. */
export type FailedLogin = (address: string) => Response | undefined;

export function createFailedLogins({ log, now }: { log: Log; now?: () => number }): FailedLogin {
  const clock = now === undefined ? {} : { now };
  const attempts = createBuckets({ perMinute: PER_MINUTE, ...clock });
  const warnings = createBuckets({ perMinute: 1, ...clock });
  return (address) => {
    const waitMs = attempts(networkOf(address));
    if (waitMs === 0) return undefined;
    if (warnings("") === 0) log.warn(`Too many invalid tokens from ${networkOf(address)}; rejecting them with 429.`);
    return tooMany(waitMs, "Too many invalid tokens were sent from this address.");
  };
}

/** An IPv6 /64 counts as one address, because one household has all of it. An IPv4-mapped address counts as IPv4. */
export function networkOf(address: string): string {
  const [plain = ""] = address.toLowerCase().split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  // A dotted end is two groups wide; it never reaches the first four.
  const width = right.length + (right.at(-1)?.includes(".") === true ? 1 : 0);
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - left.length - width }, () => "0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
