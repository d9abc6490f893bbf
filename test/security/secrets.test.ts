import { expect, test } from "vitest";
import { trySecrets } from "./secrets.ts";

test("T9 T8 a key and a token are nowhere after more than forty failures: stdout, stderr, files, answers, argv", async (context) => {
  const { failures, broken } = await trySecrets(context);
  expect(broken).toEqual([]);
  expect(failures).toBeGreaterThanOrEqual(40);
});
