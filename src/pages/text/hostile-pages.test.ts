/** The time to read a hostile page grows with its size, not with the square of it. */

import { expect, test } from "vitest";
import { HOSTILE_PAGES } from "../../../test/kit/hostile/pages.ts";
import { makePdf } from "../../../test/kit/sites/pdf.ts";
import { pdfToText } from "./pdf-text.ts";
import { readHtml } from "./read-html.ts";

const SIZE = 200_000;
/** Below this the clock and the compiler decide. */
const SMALL_MS = 15;
const MAX_RATIO = 2.5;

/** Processor time of this thread: other programs and the collector's threads do not count. */
async function millisecondsOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The ratio of the best of several tries each; fewer where it is good at once. */
async function growthOf(whole: () => unknown, half: () => unknown): Promise<number> {
  const best = { whole: Infinity, half: Infinity };
  let ratio = Infinity;
  for (let round = 0; round < 6 && ratio >= MAX_RATIO; round += 1) {
    best.half = Math.min(best.half, await millisecondsOf(half));
    best.whole = Math.min(best.whole, await millisecondsOf(whole));
    ratio = best.whole / Math.max(best.half, SMALL_MS);
  }
  return ratio;
}

test.for(Object.entries(HOSTILE_PAGES))("hostile HTML is read in linear time: %s (W9)", async ([, make]) => {
  const [half, whole] = [make(SIZE), make(2 * SIZE)];
  readHtml(half);
  const growth = await growthOf(
    () => readHtml(whole),
    () => readHtml(half),
  );
  expect(growth).toBeLessThan(MAX_RATIO);
});

test("a PDF with many lines and many pages is read in linear time (W9)", async () => {
  const line = "Revenue rose to 4.2 billion francs.";
  const pages = (count: number): Uint8Array => makePdf(Array.from({ length: count }, () => [line, line]));
  const lines = (count: number): Uint8Array => makePdf([Array.from({ length: count }, () => line)]);
  for (const make of [(n: number) => pages(n / 10), lines]) {
    const [half, whole] = [make(500), make(1_000)];
    await pdfToText(Uint8Array.from(half));
    const growth = await growthOf(
      () => pdfToText(Uint8Array.from(whole)),
      () => pdfToText(Uint8Array.from(half)),
    );
    expect(growth).toBeLessThan(MAX_RATIO);
  }
});
