/** On one machine the table of runs is the queue: the row of a run says when its next poll is due. */

import type { PollQueue } from "./queue.ts";

const nothing = async (): Promise<void> => {};

export const localQueue: PollQueue = {
  isEngine: false,
  schedule: nothing,
  checkStart: nothing,
  pollNow: async () => false,
};
