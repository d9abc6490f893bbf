/** Poll queue for one machine. It does nothing: the due time of each poll is in the row of its run. */

import type { PollQueue } from "./queue.ts";

const noop = async (): Promise<void> => {};

export const localQueue: PollQueue = {
  usesPgBoss: false,
  schedule: noop,
  checkStart: noop,
  pollNow: async () => false,
};
