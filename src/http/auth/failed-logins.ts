/** Wrong tokens, counted by where they come from: guessing is slow, and the log stays readable. */

import { isIPv6 } from "node:net";
import type { Log } from "../../platform/log.ts";
import { createBuckets, tooMany } from "../rate-limit.ts";

const PER_MINUTE = 60;

/** Counts one wrong token; a response when there were too many. */
export type FailedAttempt = (address: string) => Response | undefined;

export function createFailedAttempts({ log, now }: { log: Log; now?: () => number }): FailedAttempt {
  const clock = now === undefined ? {} : { now };
  const attempts = createBuckets({ perMinute: PER_MINUTE, ...clock });
  const mentions = createBuckets({ perMinute: 1, ...clock });
  return (address) => {
    const waitMs = attempts(networkOf(address));
    if (waitMs === 0) return undefined;
    if (mentions("") === 0) log.warn(`Too many wrong tokens from ${networkOf(address)}; they are answered with 429.`);
    return tooMany(waitMs, "Too many wrong tokens came from this address.");
  };
}

/** One household holds 2^64 IPv6 addresses: they count as one. An IPv4 address in IPv6 clothes is itself. */
export function networkOf(address: string): string {
  const [plain = ""] = address.toLowerCase().split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  // A dotted end stands for two groups; it never reaches the first four.
  const width = right.length + (right.at(-1)?.includes(".") === true ? 1 : 0);
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - left.length - width }, () => "0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
