import { expect, test } from "vitest";
import { canRunUnprivileged, playReadOnly } from "./read-only.ts";

test.skipIf(!canRunUnprivileged())(
  "with a read-only directory or database, for a user other than root, stored runs can be read, searches work, and nothing is sent or lost (B5, P5, N3)",
  async () => {
    expect(await playReadOnly()).toEqual([]);
  },
);
