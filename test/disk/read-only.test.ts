import { expect, test } from "vitest";
import { canBeRefused, playReadOnly } from "./read-only.ts";

test.skipIf(!canBeRefused())(
  "with read-only directories, for a user other than root, searches work, and nothing is sent or lost (B5, P5, N3)",
  async () => {
    expect(await playReadOnly()).toEqual([]);
  },
);
