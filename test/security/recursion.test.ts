import { expect, test } from "vitest";
import { tryRecursion } from "./recursion.ts";

test("a Gemini CLI that starts this program again, in any way, gets no second level (T5, C4)", async (context) => {
  const { tried, broken } = await tryRecursion(context);
  expect(broken).toEqual([]);
  expect(tried).toBe(7);
});
