import { expect, test } from "vitest";
import { trySwappedLinks, tryWaysOut } from "./output-paths.ts";

test("no name and no link leads a remote caller's report out of the owner's directory (T10, N2)", async (context) => {
  const { tried, broken } = await tryWaysOut(context);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(180);
});

test("nor does a directory that becomes a link to somewhere else while the report is saved (T10, T11)", async (context) => {
  expect((await trySwappedLinks(context, 400)).broken).toEqual([]);
});
