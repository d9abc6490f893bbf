import { expect, test } from "vitest";
import type { HtmlRequest, ReportHtml } from "./html.ts";
import { createHtmlCache } from "./cache.ts";

const LENGTH = 1_000;

function openMemory(room: number) {
  const rendered: string[] = [];
  const render = ({ report }: HtmlRequest): ReportHtml => {
    rendered.push(report);
    return { title: report, html: report.padEnd(LENGTH), contents: [], sources: [] };
  };
  const remembered = createHtmlCache(render, room);
  const read = (report: string, more: Partial<HtmlRequest> = {}): string =>
    remembered({ report, query: "What?", sources: [], ...more }).title;
  return { read, rendered };
}

test("a report is rendered once, and again when any of its inputs changed", () => {
  const { read, rendered } = openMemory(10 * LENGTH);
  for (let count = 0; count < 3; count += 1) expect(read("a")).toBe("a");
  expect(rendered).toEqual(["a"]);
  read("a", { query: "Why?" });
  read("a", { sources: [{ n: 1, title: "", url: "https://a.example", domain: "" }] });
  read("a", { citations: [{ n: 1, start_byte: 0, end_byte: 1 }] });
  expect(rendered).toHaveLength(4);
});

test("the least recently used report is dropped first, and one that is too large at once", () => {
  const { read, rendered } = openMemory(2.5 * LENGTH);
  for (const report of ["a", "b", "a", "c", "a", "c", "b"]) read(report);
  expect(rendered).toEqual(["a", "b", "c", "b"]);
  const small = openMemory(LENGTH / 2);
  for (const report of ["a", "a"]) expect(small.read(report)).toBe("a");
  expect(small.rendered).toEqual(["a", "a"]);
});
