/** On one machine the table of runs is the queue: its leases and times say all there is to say. */

import type { RunQueue } from "./queue.ts";

const nothing = async (): Promise<void> => {};

export const localQueue: RunQueue = {
  hands: false,
  offer: nothing,
  take: async () => [],
  keep: nothing,
  giveBack: nothing,
  repair: async () => ({ offered: 0, dropped: 0, silent: 0 }),
};
