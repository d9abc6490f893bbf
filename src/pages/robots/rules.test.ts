/** robots.txt is read as RFC 9309 and an independent implementation read it, in linear time. */

import fc from "fast-check";
import robots from "robots-parser";
import { expect, test } from "vitest";
import { MAX_PROCESSOR_MS, processorMs } from "../../../test/kit/clock/time-limits.ts";
import { parseRobots } from "./robots.ts";

/** Its types describe another form of the module. */
const robotsParser = robots as unknown as typeof robots.default;
const NAME = "gemini-search-mcp";
const isAllowed = (text: string, path: string): boolean => parseRobots(text, NAME).isAllowed(path);

test("a file of thousands of patterns is decided in a moment, and a hostile one allows nothing (W8, T15)", () => {
  const path = `/${"a".repeat(4_050)}`;
  const same = parseRobots(`user-agent: *\n${"allow:*a*ab\n".repeat(42_000)}`, NAME);
  const other = Array.from({ length: 30_000 }, (_, n) => `allow:*a${n}b`).join("\n");
  const different = parseRobots(`user-agent: *\n${other}`, NAME);
  const spentMs = processorMs(() => {
    expect(same.isAllowed(path)).toBe(true);
    expect(different.isAllowed(path)).toBe(false);
    expect(different.isAllowed("/a")).toBe(true);
  });
  expect(spentMs).toBeLessThan(MAX_PROCESSOR_MS);
});

test("the most specific group and the longest pattern decide, allow before disallow (W8)", () => {
  const text = `
    # comment
    User-agent: other
    Disallow: /
    User-Agent: Gemini-Search-MCP/1.0
    User-agent: third
    Disallow: /a   # all of a
    Allow: /a/b
    Disallow: /*.pdf$
    Disallow: /caf\u00e9
    Allow: /same
    Disallow: /same
    Disallow:
    user-agent: *
    Disallow: /
  `;
  const allowed = ["/", "/a/b/c", "/x.pdf?y", "/b", "/same", "/robots.txt"];
  const disallowed = ["/a", "/ab", "/a/c", "/x.pdf", "/y/z.pdf", "/caf%c3%a9/1"];
  expect(allowed.filter((path) => !isAllowed(text, path))).toEqual([]);
  expect(disallowed.filter((path) => isAllowed(text, path))).toEqual([]);
  expect(isAllowed("User-agent: *\nDisallow: /x\n\nUser-agent: *\nDisallow: /y", "/x")).toBe(false);
  expect(isAllowed("<html>Not found</html>", "/x")).toBe(true);
});

test("the result is that of robots-parser for any rules and paths (W8)", () => {
  const piece = fc.constantFrom("/", "a", "b", "*", "$", "ab", "%2f", ".");
  const path = fc
    .array(fc.constantFrom("/", "a", "b", ".", "%2F", "?"), { maxLength: 8 })
    .map((parts) => `/${parts.join("")}`);
  const rule = fc.tuple(fc.constantFrom("Allow", "Disallow"), fc.array(piece, { minLength: 1, maxLength: 7 }));
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 6 }), path, (rules, to) => {
      const text = `User-agent: *\n${rules.map(([key, parts]) => `${key}: ${parts.join("")}`).join("\n")}`;
      const other = robotsParser("https://site-a.org/robots.txt", text).isAllowed(`https://site-a.org${to}`, NAME);
      // The parser of URLs may change the path.
      const { pathname, search } = new URL(`https://site-a.org${to}`);
      expect(isAllowed(text, pathname + search)).toBe(other);
    }),
    { numRuns: 2_000 },
  );
});

test("a file of half a megabyte of hostile patterns is matched in time (W8)", () => {
  const patterns = ["*a".repeat(900), `${"a*".repeat(900)}b$`, `b${"a".repeat(2_000)}`, "/*".repeat(1_000)];
  const text = `User-agent: *\n${Array.from({ length: 250 }, (_, n) => `Disallow: /${patterns[n % 4]}`).join("\n")}`;
  const rules = parseRobots(text, NAME);
  expect(processorMs(() => rules.isAllowed(`/${"a".repeat(4_000)}`))).toBeLessThan(MAX_PROCESSOR_MS);
});
