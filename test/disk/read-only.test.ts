import { expect, test } from "vitest";
import { canRunUnprivileged, playReadOnly } from "./read-only.ts";

test.skipIf(!canRunUnprivileged())(
  "with read-only directories, for a user other than root, searches work, and nothing is sent or lost (B5, P5, N3)",
  async () => {
    expect(await playReadOnly()).toEqual([]);
  },
);
