import { expect, test } from "vitest";
import { canBeRefused, playReadOnly } from "./read-only.ts";

test.skipIf(!canBeRefused())(
  "read-only directories, for a user who is not root: searches work, nothing is sent or lost (B5, P5, N3)",
  async () => {
    expect(await playReadOnly()).toEqual([]);
  },
);
