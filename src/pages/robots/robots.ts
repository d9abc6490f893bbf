/** Asks the robots.txt of each origin once an hour. */

import { abortable, PageError } from "../page.ts";
import type { CheckedUrl } from "../guard/dial.ts";
import { type Followed, isUnreachableHost, ROBOT_NAME } from "../transport/request.ts";
import type { Clock } from "../../platform/clock.ts";

/** RFC 9309 treats it like a complete exclusion. */
const UNKNOWN = new PageError({ outcome: "not_checked", reason: "The site's robots.txt could not be read." });

export interface Robots {
  /** Throws `PageError`, or what made the host unreachable. */
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
      if (!rules.isAllowed(url.pathname + url.search)) throw new PageError({ outcome: "unreadable", wall: "robots" });
    },
  };
}

function rulesFrom(followed: Followed, origin: string): RobotsRules {
  if ("error" in followed) {
    // The page would fail in the same way, and the reason says more than that robots.txt is missing.
    if (isUnreachableHost(followed.error) && followed.url.startsWith(`${origin}/`)) throw followed.error;
    throw UNKNOWN;
  }
  const { status, body } = followed.response;
  if (status >= 200 && status < 300) {
    return parseRobots(body.subarray(0, MAX_ROBOTS_BYTES).toString("utf8"), ROBOT_NAME);
  }
  if (status >= 400 && status < 500 && status !== 429) return ALL_ALLOWED;
  throw UNKNOWN;
}

// Reads robots.txt as RFC 9309 defines it.

/** RFC 9309 asks to parse at least 500 KiB. */
const MAX_ROBOTS_BYTES = 512_000;
/** Longer patterns occur only in hostile files; a path is at most 4,096 characters long. */
const MAX_PATTERN_CHARACTERS = 2_048;
/** Rules times characters of the path, some tenths of a second. Only a hostile file has more: then nothing is allowed. */
const MAX_WORK = 20_000_000;

interface Rule {
  pattern: string;
  isAllowed: boolean;
}

export interface RobotsRules {
  /** `path` includes the query. */
  isAllowed(path: string): boolean;
}

/** The rules of the groups that name the robot, or else of those for all robots. */
export function parseRobots(text: string, robotName: string): RobotsRules {
  const own: Rule[] = [];
  const general: Rule[] = [];
  let isNamed = false;
  let targets = new Set<Rule[]>();
  let isInNames = false;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    const { key, value } = fieldOf(line);
    if (key === "user-agent") {
      if (!isInNames) targets = new Set();
      isInNames = true;
      if (value === "*") targets.add(general);
      if (productToken(value) === robotName) {
        targets.add(own);
        isNamed = true;
      }
    } else if (key === "allow" || key === "disallow") {
      isInNames = false;
      if (value === "" || value.length > MAX_PATTERN_CHARACTERS) continue;
      for (const rules of targets) rules.push({ pattern: normalized(value), isAllowed: key === "allow" });
    }
  }
  const rules = isNamed ? own : general;
  const distinct = [...new Map(rules.map((rule) => [`${rule.isAllowed} ${rule.pattern}`, rule])).values()];
  return { isAllowed: (path) => decide(distinct, normalized(path)) };
}

function fieldOf(line: string): { key: string; value: string } {
  const comment = line.indexOf("#");
  const content = comment === -1 ? line : line.slice(0, comment);
  const colon = content.indexOf(":");
  if (colon === -1) return { key: "", value: "" };
  return { key: content.slice(0, colon).trim().toLowerCase(), value: content.slice(colon + 1).trim() };
}

const productToken = (value: string): string => /^[a-z_-]*/i.exec(value)?.[0].toLowerCase() ?? "";

/** The longest matching pattern decides; `allow` wins among equals. robots.txt itself is always allowed. */
function decide(rules: readonly Rule[], path: string): boolean {
  if (path === "/robots.txt") return true;
  if (rules.length * path.length > MAX_WORK) return false;
  let length = -1;
  let isAllowed = true;
  for (const rule of rules) {
    if (rule.pattern.length < length || !matches(rule.pattern, path)) continue;
    isAllowed = rule.isAllowed || (rule.pattern.length === length && isAllowed);
    length = rule.pattern.length;
  }
  return isAllowed;
}

/**
 * Finds the parts between `*` from left to right, each as early as possible. If a match exists, this finds one, and no
 * character of the path is compared with more than one part at a time.
 */
function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith("$");
  const parts = (isAnchored ? pattern.slice(0, -1) : pattern).split("*");
  const [first = "", ...others] = parts;
  if (!path.startsWith(first)) return false;
  let position = first.length;
  if (others.length === 0) return !isAnchored || position === path.length;
  const last = isAnchored ? (others.pop() ?? "") : "";
  for (const part of others) {
    const found = path.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return path.length - last.length >= position && path.endsWith(last);
}

/** Percent-encoding has one form: upper-case digits, and everything outside ASCII encoded. */
const normalized = (text: string): string =>
  text
    .replaceAll(/%[0-9a-f]{2}/gi, (code) => code.toUpperCase())
    .replaceAll(/[^\x20-\x7E]+/g, (characters) => encodeURIComponent(characters.toWellFormed()));
