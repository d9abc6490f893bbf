/** Asks the robots.txt of each origin once an hour. */

import { abortable } from "../abortable.ts";
import type { CheckedUrl } from "../guard/check-url.ts";
import type { Clock } from "../../platform/clock.ts";
import { isUnreachableHost } from "../transport/fetch-errors.ts";
import type { Followed } from "../transport/follow.ts";
import { ROBOT_NAME } from "../transport/request.ts";
import { MAX_ROBOTS_BYTES, parseRobots, type RobotsRules } from "./rules.ts";

/** The page is not fetched because robots.txt excludes it. */
export class RobotsError extends Error {}

/** The page is not fetched because robots.txt cannot be read, which RFC 9309 treats like a complete exclusion. */
export class RobotsUnknownError extends Error {
  constructor() {
    super("The site's robots.txt could not be read.");
  }
}

export interface Robots {
  /** Throws `RobotsError`, `RobotsUnknownError`, or what made the host unreachable. */
  permit(checked: CheckedUrl, signal: AbortSignal): Promise<void>;
}

const MAX_AGE_MS = 3_600_000;
const MAX_ORIGINS = 1_000;
const ALL_ALLOWED: RobotsRules = { isAllowed: () => true };

interface Entry {
  rules: Promise<RobotsRules>;
  readAt: number;
}

/**
 * `fetchText` follows redirects under the guard and in the queue of the host. It has no caller's signal, because several
 * pages wait for one robots.txt.
 */
export function createRobots(fetchText: (url: string) => Promise<Followed>, clock: Clock): Robots {
  const entries = new Map<string, Entry>();

  const rulesOf = (origin: string): Promise<RobotsRules> => {
    const known = entries.get(origin);
    if (known !== undefined && clock.monotonic() - known.readAt < MAX_AGE_MS) return known.rules;
    const rules = fetchText(`${origin}/robots.txt`).then((followed) => rulesFrom(followed, origin));
    entries.delete(origin);
    entries.set(origin, { rules, readAt: clock.monotonic() });
    // A failure is not kept: the next page of the origin asks again.
    rules.catch(() => entries.delete(origin));
    const oldest = entries.keys().next().value;
    if (entries.size > MAX_ORIGINS && oldest !== undefined) entries.delete(oldest);
    return rules;
  };

  return {
    permit: async ({ url }, signal) => {
      const rules = await abortable(rulesOf(url.origin), signal);
      if (!rules.isAllowed(url.pathname + url.search)) throw new RobotsError();
    },
  };
}

function rulesFrom(followed: Followed, origin: string): RobotsRules {
  if ("error" in followed) {
    // The page would fail in the same way, and the reason says more than that robots.txt is missing.
    if (isUnreachableHost(followed.error) && followed.url.startsWith(`${origin}/`)) throw followed.error;
    throw new RobotsUnknownError();
  }
  const { status, body } = followed.response;
  if (status >= 200 && status < 300) {
    return parseRobots(body.subarray(0, MAX_ROBOTS_BYTES).toString("utf8"), ROBOT_NAME);
  }
  if (status >= 400 && status < 500 && status !== 429) return ALL_ALLOWED;
  throw new RobotsUnknownError();
}
