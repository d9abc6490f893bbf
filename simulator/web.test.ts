import fc from "fast-check";
import { expect, test } from "vitest";
import { searchWeb } from "./web.ts";

const RESERVED = /(?:^|\.)(?:example|test|example\.(?:com|net|org))$/;

test("for every query the pages are distinct, repeatable and on reserved domains", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (query) => {
      const pages = searchWeb(query);
      expect(searchWeb(query)).toEqual(pages);
      expect(new Set(pages.map((page) => page.url)).size).toBe(3);
      for (const page of pages) {
        expect(new URL(page.url).hostname).toBe(page.domain);
        expect(page.domain).toMatch(RESERVED);
        expect(page.title).not.toMatch(/[[\]()<>\n]/);
      }
    }),
  );
});

test("another query finds other pages", () => {
  expect(searchWeb("coffee")).not.toEqual(searchWeb("tea"));
});
