import { expect, test } from "vitest";
import { trySecrets } from "./secrets.ts";

test("after more than forty failures a key and a token are in no stdout, stderr, file, answer or argv (T9, T8)", async (context) => {
  const { failures, broken } = await trySecrets(context);
  expect(broken).toEqual([]);
  expect(failures).toBeGreaterThanOrEqual(40);
});
