/** Sources of a report: numbered once, in the order of their discovery, with the site's name. */

import { expect, test } from "vitest";
import { numberSources, unique } from "./report.ts";

const REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ";

test("sources are numbered once each, in the order they were first found (K1, G4)", () => {
  const visited = ["https://b.test/1", "https://a.test/2", "https://b.test/1"].map((url) => ({ url, title: "T" }));
  expect(numberSources(visited)).toEqual([
    { n: 1, title: "T", url: "https://b.test/1", domain: "b.test" },
    { n: 2, title: "T", url: "https://a.test/2", domain: "a.test" },
  ]);
});

test("a source takes its title from wherever its address has one, and keeps its number (K1)", () => {
  const [first, second] = numberSources([
    { url: "https://a.test/", title: "" },
    { url: "https://b.test/", title: "B" },
    { url: "https://a.test/", title: "A" },
    { url: "https://a.test/", title: "A again" },
  ]);
  expect(first).toMatchObject({ n: 1, title: "A" });
  expect(second).toMatchObject({ n: 2, title: "B" });
});

test("a source without a title is named after its site (K1)", () => {
  expect(numberSources([{ url: "https://www.example.org/page", title: "" }])).toEqual([
    { n: 1, title: "example.org", url: "https://www.example.org/page", domain: "example.org" },
  ]);
});

test("a redirect link of Google has the domain that its title names (K1)", () => {
  const [site, page] = numberSources([
    { url: `${REDIRECT}1`, title: "gazette.example.org" },
    { url: `${REDIRECT}2`, title: "A page. With a title" },
  ]);
  expect(site?.domain).toBe("gazette.example.org");
  expect(page?.domain).toBe("vertexaisearch.cloud.google.com");
  expect(numberSources([{ url: "https://a.test/", title: "b.test" }])[0]?.domain).toBe("a.test");
});

test("an invalid address does no harm (K1)", () => {
  expect(numberSources([{ url: "a book", title: "The book" }])).toEqual([
    { n: 1, title: "The book", url: "a book", domain: "" },
  ]);
});

test("unique keeps the first of equals (G4)", () => {
  expect(unique(["b", "a", "b", "c", "a"])).toEqual(["b", "a", "c"]);
});
