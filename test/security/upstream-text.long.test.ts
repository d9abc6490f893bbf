import { expect, test } from "vitest";
import { tryUpstreamText } from "./upstream-text.ts";

test("no error text of Google or the Gemini CLI is in any answer, file, notification or ordinary log line (T18)", async (context) => {
  const { tried, broken } = await tryUpstreamText(context);
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(50);
});
