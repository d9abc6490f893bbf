/** One look at the store for all who listen to an owner's runs, through whichever door. */

import { type RunChanges, type RunWatch, watchRuns } from "./change-feed.ts";

type Hear = (changes: RunChanges) => void;

interface SharedWatch {
  listeners: Set<{ hear: Hear }>;
  stop: () => void;
}

/** By the store that is looked at, then by owner; an owner nobody listens to has no entry. */
const watches = new WeakMap<RunWatch["database"], Map<string, SharedWatch>>();

/** Tells what has changed since the call; the returned function ends it. */
export function subscribeToRuns(watch: RunWatch, hear: Hear): () => void {
  const owners = watches.get(watch.database) ?? new Map<string, SharedWatch>();
  watches.set(watch.database, owners);
  const shared = owners.get(watch.owner) ?? begin(watch);
  owners.set(watch.owner, shared);
  const listener = { hear };
  shared.listeners.add(listener);
  return () => {
    if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
    shared.stop();
    owners.delete(watch.owner);
  };
}

function begin(watch: RunWatch): SharedWatch {
  const listeners = new Set<{ hear: Hear }>();
  const stop = watchRuns(watch, (changes) => {
    for (const { hear } of listeners) hear(changes);
  });
  return { listeners, stop };
}
