import { expect, test } from "vitest";
import { trySwappedLinks, tryWaysOut } from "./output-paths.ts";

test("no name and no link leads a remote caller's report out of the configured directory (T10, N2)", async (context) => {
  const { tried, broken } = await tryWaysOut(context);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(180);
});

test("a directory that is replaced by a link while a report is saved does not lead it out either (T10, T11)", async (context) => {
  expect((await trySwappedLinks(context, 400)).broken).toEqual([]);
});
