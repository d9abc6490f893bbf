import { expect, test } from "vitest";
import { siteOf } from "./site.ts";

const REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC";

test.each([
  [
    { url: "https://www.nature.com/articles/1", title: "" },
    { domain: "nature.com", title: "nature.com" },
  ],
  [
    { url: "https://iea.org/", title: "**The** IEA\u001B[2J" },
    { domain: "iea.org", title: "The IEA" },
  ],
  [
    { url: REDIRECT, title: "who.int" },
    { domain: "who.int", title: "who.int" },
  ],
  [
    { url: REDIRECT, title: "Heat pumps in the cold" },
    { domain: "", title: "Heat pumps in the cold" },
  ],
])("the site of %o", (page, site) => {
  expect(siteOf(page)).toEqual({ url: page.url, ...site });
});

test.each(["javascript:alert(1)", "data:text/html,x", "ftp://a.org/", "https://user:secret@a.org/", "nature.com", ""])(
  "%s is no site",
  (url) => {
    expect(siteOf({ url, title: "A title" })).toBeUndefined();
  },
);

test("a redirect link without a title is no site, and a long title is cut", () => {
  expect(siteOf({ url: REDIRECT, title: "" })).toBeUndefined();
  expect(siteOf({ url: "https://a.org/", title: "x".repeat(10_000) })?.title.length).toBeLessThanOrEqual(201);
});
