import { expect, test } from "vitest";
import { tryOwners } from "./owners.ts";

test("nobody reads, cancels, resumes, saves, hears of, joins or lists what is another's (T14, A9)", async (context) => {
  const { tried, broken } = await tryOwners(context);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(80);
});
