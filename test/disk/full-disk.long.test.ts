import { describe, test } from "vitest";
import { playStage, STAGES } from "./full-disk.ts";
import { canLimit, canMount, openLimitedWorld } from "./small-disk.ts";

/** Longer than all waits together, so that a wait that expires is reported by name. */
const timeout = 240_000;

describe.skipIf(!canMount()).concurrent("a disk that fills up (needs root, to mount a small one) (P5, N3)", () => {
  test.for(STAGES)(
    "$name: nothing unrecorded is sent, and every run is collected",
    { timeout },
    async (stage, { expect }) => {
      expect(await playStage(stage)).toEqual([]);
    },
  );
});

describe.skipIf(!canLimit()).concurrent("files that may not grow (ulimit -f) (P5)", () => {
  const stages = STAGES.filter(({ limited }) => limited);
  test.for(stages)(
    "$name: nothing unrecorded is sent, and every run is collected",
    { timeout },
    async (stage, { expect }) => {
      expect(await playStage(stage, openLimitedWorld)).toEqual([]);
    },
  );
});
