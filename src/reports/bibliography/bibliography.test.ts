/** Bibliography files are read back by other programs' parsers. */

import { plugins } from "@citation-js/core";
import "@citation-js/plugin-bibtex";
import { expect, test } from "vitest";
import { bibliography } from "./bibliography.ts";
import { linkExpiry } from "../link-expiry.ts";

const AT = Date.UTC(2026, 10, 16);
const LINK = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC_d-1";

const CITED = {
  taskId: "3f2a9c1e-0000-4000-8000-000000000000",
  at: AT,
  sources: [
    {
      n: 1,
      title: String.raw`50 % of {R&D} costs $9_000 #1 ~ \input{x} – Çelik Ōsaka 地震`,
      url: "https://example.org/a_b?c=%7Bd%7D&e=1#f",
      domain: "example.org",
    },
    { n: 2, title: "d.example", url: LINK, domain: "d.example" },
    { n: 3, title: "The bridge", url: LINK, resolved_url: "https://d.example/page", domain: "d.example" },
    { n: 4, title: "x", url: "javascript:alert(1)", domain: "" },
  ],
  pages: new Map([[3, { date: "2024-03-01T10:00:00Z", author: "Müller, Anna and others", checkedAt: AT }]]),
};

/** The fields that both writer and parser know. */
interface ReadItem {
  title: string;
  URL?: string;
  author?: { literal?: string; family?: string }[];
  issued?: { "date-parts": number[][] };
  accessed?: { "date-parts": number[][] };
}

test("BibTeX is read back by a parser with the same titles, addresses, authors and dates (W6)", () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package has no types
  const items = plugins.input.chain(bibliography(CITED, "bibtex")) as ReadItem[];
  const titles = [
    String.raw`50 % of (R&D) costs $9_000 #1 ~ \input(x) – Çelik Ōsaka 地震`,
    "d.example",
    "The bridge",
    "x",
  ];
  expect(items.map(({ title }) => title)).toEqual(titles);
  expect(items.map(({ URL: url }) => url)).toEqual([
    "https://example.org/a_b?c=%7Bd%7D&e=1#f",
    undefined,
    "https://d.example/page",
    undefined,
  ]);
  expect(items[2]?.issued?.["date-parts"]).toEqual([[2024, 3, 1]]);
  expect(JSON.stringify(items[2]?.author)).toContain("Müller, Anna and others");
  expect(items[0]?.accessed?.["date-parts"]).toEqual([[2026, 11, 16]]);
});

test("no title, author or note ends its field for a reader that counts braces (W6, T27)", () => {
  const hostile = 'x}}, url = "https://evil.example/", author = "y"} @online(z, title = "w {';
  const sources = [{ n: 1, title: hostile, url: "https://a.example/{}", domain: hostile }];
  const pages = new Map([[1, { author: hostile, checkedAt: AT }]]);
  const text = bibliography({ ...CITED, sources, pages }, "bibtex");
  let depth = 0;
  const outside = [...text].filter((character) => {
    if (character === "}") depth -= 1;
    const isOutside = depth === 0;
    if (character === "{") depth += 1;
    return isOutside;
  });
  expect(depth).toBe(0);
  expect(outside.join("").replaceAll(/[{}\s]/g, "")).toBe("@online");
});

test("RIS has one tag per line and one record per source; CSL-JSON is an array of items with unique ids (W6)", () => {
  const records = bibliography(CITED, "ris")
    .split(/^ER {2}- \r\n/m)
    .filter((record) => record.trim() !== "");
  expect(records).toHaveLength(4);
  for (const line of records.flatMap((record) => record.trim().split("\r\n"))) {
    expect(line).toMatch(/^[A-Z][A-Z0-9] {2}- \S/);
  }
  expect(records[2]).toContain("UR  - https://d.example/page\r\n");
  expect(records[2]).toContain("DA  - 2024/03/01\r\n");
  const items: unknown = JSON.parse(bibliography(CITED, "csl"));
  expect(items).toMatchObject([
    { id: "run3f2a9c1e-1", type: "webpage", "container-title": "example.org" },
    { id: "run3f2a9c1e-2" },
    { id: "run3f2a9c1e-3", URL: "https://d.example/page", author: [{ literal: "Müller, Anna and others" }] },
    { id: "run3f2a9c1e-4" },
  ]);
});

test("an unresolved link at Google appears as title and domain with the day on which it expires (W6)", () => {
  expect(bibliography(CITED, "bibtex")).toContain("expires on 2026-12-16");
  expect(linkExpiry({ url: LINK }, AT)).toBe("2026-12-16");
  expect(linkExpiry({ url: LINK, resolved_url: "https://d.example/" }, AT)).toBeUndefined();
  expect(linkExpiry({ url: "https://example.org/" }, AT)).toBeUndefined();
});
