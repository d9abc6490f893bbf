/** On one machine the table of runs is the queue: whoever writes a run has written when it is polled. */

import type { PollQueue } from "./queue.ts";

const nothing = async (): Promise<void> => {};

export const localQueue: PollQueue = {
  isEngine: false,
  schedule: nothing,
  checkStart: nothing,
  pollNow: async () => false,
};
