import { expect, test } from "vitest";
import { ENDLESS_CHILDREN, tryEndlessChildren, tryFloodsFromUpstream } from "./floods.ts";

test("a Gemini CLI that prints endlessly is stopped with its children, and the next call works (T16, C6)", async (context) => {
  expect((await tryEndlessChildren(context, ENDLESS_CHILDREN.slice(0, 1))).broken).toEqual([]);
});

test("responses of ten gigabytes, compressed or not, are dropped at 16 MB, and the next call works (T16)", async (context) => {
  expect((await tryFloodsFromUpstream(context)).broken).toEqual([]);
});
