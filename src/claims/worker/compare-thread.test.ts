/** Claims are compared with a page in a thread whose time and memory are bounded. */

import { expect, onTestFinished, test } from "vitest";
import { createCompareThread } from "./compare-thread.ts";

const MEGABYTE = 1_048_576;
const CLAIM = { text: "Lake Onda is 42 metres deep.", context: [], headings: [] };
const PAGE = { title: "Onda", blocks: ["Lake Onda is 42 metres deep.", "The village has 310 inhabitants."] };
const { signal } = new AbortController();

function openThread(limits?: Parameters<typeof createCompareThread>[0]) {
  const thread = createCompareThread(limits);
  onTestFinished(() => thread.close());
  return thread.compare;
}

test("claims are compared in their order, with passages for those that are not supported (W2, W3)", async () => {
  const compare = openThread();
  const other = { ...CLAIM, text: "The village has 900 inhabitants." };
  const found = await compare({ page: PAGE, claims: [CLAIM, other], passages: 2 }, signal);
  expect(found).toMatchObject([
    { comparison: { verdict: "supported", passage: PAGE.blocks[0] }, passages: [] },
    { comparison: { verdict: "not_confirmed" }, passages: [PAGE.blocks[1]] },
  ]);
});

test("a page that takes too long or too much memory ends the thread, not the process; the next is compared (W3, T15)", async () => {
  const hostile = { title: "", blocks: Array.from({ length: 400 }, () => "5 May 2025 8% ".repeat(200)) };
  const job = { page: hostile, claims: Array.from({ length: 50 }, () => CLAIM), passages: 5 };
  const compare = openThread({ maxMs: 300, maxMemoryBytes: 256 * MEGABYTE });
  let beats = 0;
  const heart = setInterval(() => (beats += 1), 10);
  onTestFinished(() => clearInterval(heart));
  expect(await compare(job, signal)).toBeUndefined();
  expect(beats).toBeGreaterThan(5);
  const next = openThread();
  expect(await next({ page: PAGE, claims: [CLAIM], passages: 0 }, signal)).toHaveLength(1);
});
