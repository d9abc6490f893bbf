import { expect, test } from "vitest";
import { tryOwners } from "./owners.ts";

test("no owner reads, cancels, resumes, saves, subscribes to, joins or lists runs of another (T14, T-5, A9)", async (context) => {
  const { tried, broken } = await tryOwners(context);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(80);
});
