import { expect, test } from "vitest";
import { ENDLESS_CHILDREN, tryEndlessChildren, tryFloodsFromUpstream } from "./floods.ts";

test("a Gemini CLI that prints for ever is stopped with all it started, and the next call works (T16, C6)", async (context) => {
  expect((await tryEndlessChildren(context, ENDLESS_CHILDREN.slice(0, 1))).broken).toEqual([]);
});

test("ten gigabytes from upstream, packed or not, are dropped at 16 MB, and the next call works (T16)", async (context) => {
  expect((await tryFloodsFromUpstream(context)).broken).toEqual([]);
});
