import { expect, test } from "vitest";
import { createHtmlCache, type HtmlRequest, type ReportParts } from "./html.ts";

const LENGTH = 1_000;

function openMemory(room: number) {
  const rendered: string[] = [];
  const render = ({ report }: HtmlRequest): Promise<ReportParts> => {
    rendered.push(report);
    return Promise.resolve({ title: report, parts: [report.padEnd(LENGTH)], contents: [], sources: [] });
  };
  const remembered = createHtmlCache(render, room);
  const read = async (report: string, more: Partial<HtmlRequest> = {}): Promise<string> =>
    (await remembered({ report, query: "What?", sources: [], ...more })).title;
  return { read, rendered };
}

test("a report is rendered once, and again when any of its inputs changed", async () => {
  const { read, rendered } = openMemory(10 * LENGTH);
  for (let count = 0; count < 3; count += 1) expect(await read("a")).toBe("a");
  expect(rendered).toEqual(["a"]);
  await read("a", { query: "Why?" });
  await read("a", { sources: [{ n: 1, title: "", url: "https://a.example", domain: "" }] });
  await read("a", { citations: [{ n: 1, start: 0, end: 1 }] });
  expect(rendered).toHaveLength(4);
});

test("the least recently used report is dropped first, and one that is too large at once", async () => {
  const { read, rendered } = openMemory(2.5 * LENGTH);
  for (const report of ["a", "b", "a", "c", "a", "c", "b"]) await read(report);
  expect(rendered).toEqual(["a", "b", "c", "b"]);
  const small = openMemory(LENGTH / 2);
  for (const report of ["a", "a"]) expect(await small.read(report)).toBe("a");
  expect(small.rendered).toEqual(["a", "a"]);
});

test("a report that is requested twice at once is rendered once", async () => {
  const { read, rendered } = openMemory(10 * LENGTH);
  await Promise.all([read("a"), read("a")]);
  expect(rendered).toEqual(["a"]);
});
