import { expect, test } from "vitest";
import { canBeRefused, playReadOnly } from "./read-only.ts";

test.skipIf(!canBeRefused())(
  "B5 P5 N3 read-only directories, for a user who is not root: searches work, nothing is sent or lost",
  async () => {
    expect(await playReadOnly()).toEqual([]);
  },
);
