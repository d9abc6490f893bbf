import { expect, test } from "vitest";
import { trySecrets } from "./secrets.ts";

test("a key and a token are nowhere after more than forty failures: stdout, stderr, files, answers, argv (T9, T8)", async (context) => {
  const { failures, broken } = await trySecrets(context);
  expect(broken).toEqual([]);
  expect(failures).toBeGreaterThanOrEqual(40);
});
