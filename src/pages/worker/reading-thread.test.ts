/** Pages are parsed in a thread whose time and memory are bounded; kinds of files are distinguished. */

import { expect, onTestFinished, test } from "vitest";
import { makePdf, makePdfBomb } from "../../../test/kit/sites/pdf.ts";
import { PAGE_LIMITS, type PageLimits } from "../page.ts";
import type { PageContent } from "../text/read-html.ts";
import { createReadingThread } from "./reading-thread.ts";

const MEGABYTE = 1_048_576;
const PAGE = Buffer.from(
  `<title>Page</title>${"<p>A page with enough text to be one, and nothing else.</p>".repeat(20)}`,
);

function openThread(limits: Partial<PageLimits> = {}) {
  const thread = createReadingThread({ ...PAGE_LIMITS, ...limits });
  onTestFinished(() => thread.close());
  const context = { requestedUrl: "https://www.site-a.org/a", finalUrl: "https://www.site-a.org/a" };
  return (bytes: Uint8Array, contentType = "text/html"): Promise<PageContent> =>
    thread.read({ bytes, contentType, ...context }, new AbortController().signal);
}

test("a PDF is read with its title, date and author; damaged files and scans are not (W9)", async () => {
  const read = openThread();
  const pdf = makePdf(
    [
      [
        "Annual report",
        "",
        "Revenue rose to 4.2 billion francs in 2025, an in-",
        "crease of 7 percent.",
        "",
        "",
        "Staff: 900",
      ],
      ["The dividend is 3.20 francs \\(unchanged)."],
    ],
    { Title: "Norda 2025", Author: "Norda AG", CreationDate: "D:20260301120000Z" },
  );
  const expected = {
    outcome: "text",
    page: {
      title: "Norda 2025",
      author: "Norda AG",
      date: "2026-03-01",
      blocks: [
        "Annual report",
        "Revenue rose to 4.2 billion francs in 2025, an increase of 7 percent.",
        "Staff: 900",
        expect.stringContaining("The dividend is 3.20 francs"),
      ],
    },
  };
  expect(await read(pdf, "application/pdf")).toEqual(expected);
  // By its first bytes, whatever the server calls it.
  expect(await read(pdf, "application/octet-stream")).toEqual(expected);
  const unreadable = { outcome: "unreadable", wall: "format" };
  expect(await read(makePdf([[]]), "application/pdf")).toEqual(unreadable);
  expect(await read(pdf.subarray(0, 200), "application/pdf")).toEqual(unreadable);
  expect(await read(Buffer.from("no PDF"), "application/pdf")).toEqual(unreadable);
  const loop = Buffer.from(
    makePdf([["x"]])
      .toString("latin1")
      .replace("/Kids [5 0 R]", "/Kids [2 0 R]"),
    "latin1",
  );
  expect(await read(loop, "application/pdf")).toEqual(unreadable);
});

test("plain text is read; other formats are not (W9)", async () => {
  const read = openThread();
  const text = Buffer.from("Title line\n\nFirst paragraph\nin two lines.\n\n\nSecond.");
  const blocks = ["Title line", "First paragraph in two lines.", "Second."];
  expect(await read(text, "text/plain; charset=utf-8")).toMatchObject({ page: { title: "Title line", blocks } });
  expect(await read(text, "")).toMatchObject({ page: { blocks } });
  expect(await read(PAGE, "text/plain")).toMatchObject({ outcome: "text" });
  const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  for (const type of [docx, "image/png", "application/json", "application/zip", "video/mp4"]) {
    expect(await read(text, type), type).toEqual({ outcome: "unreadable", wall: "format" });
  }
  expect(await read(Buffer.from("PK\u0003\u0004\0\0"), "")).toEqual({ outcome: "unreadable", wall: "format" });
});

test("a thread that takes too long or too much memory is ended, and the next page is read by another (W9)", async () => {
  const slow = openThread({ readMs: 1 });
  expect(await slow(Buffer.alloc(8 * MEGABYTE, "<p>word "))).toEqual({ outcome: "unreadable", wall: "too_large" });
  const read = openThread({ readMemoryBytes: 64 * MEGABYTE });
  expect(await read(PAGE)).toMatchObject({ outcome: "text" });
  const before = process.memoryUsage.rss();
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss() - before)), 5);
  onTestFinished(() => clearInterval(watch));
  // 200 MB in a file of 200 KB.
  const bomb = makePdfBomb(200 * MEGABYTE);
  expect(bomb.length).toBeLessThan(MEGABYTE);
  const afterBomb = process.memoryUsage.rss() - before;
  peak = 0;
  expect(await read(bomb, "application/pdf")).toEqual({ outcome: "unreadable", wall: "too_large" });
  expect(peak - afterBomb).toBeLessThan(300 * MEGABYTE);
  expect(await read(PAGE)).toMatchObject({ outcome: "text" });
});

test("an aborted reading is rejected, and a waiting one is still read (W9)", async () => {
  const thread = createReadingThread(PAGE_LIMITS);
  onTestFinished(() => thread.close());
  const job = { bytes: PAGE, contentType: "text/html", requestedUrl: "https://a.org/", finalUrl: "https://a.org/" };
  const stopped = new AbortController();
  const first = thread.read(job, stopped.signal);
  const second = thread.read(job, new AbortController().signal);
  stopped.abort(new Error("stopped"));
  await expect(first).rejects.toThrow("stopped");
  expect(await second).toMatchObject({ outcome: "text" });
});
