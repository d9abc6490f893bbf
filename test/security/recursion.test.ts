import { expect, test } from "vitest";
import { tryRecursion } from "./recursion.ts";

test("T5 C4 a Gemini CLI that starts us again by any way gets no second level", async (context) => {
  const { tried, broken } = await tryRecursion(context);
  expect(broken).toEqual([]);
  expect(tried).toBe(7);
});
