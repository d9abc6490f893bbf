/** One change feed per owner, shared by all subscribers on every transport. */

import { type RunChanges, type RunWatch, watchRuns } from "./change-feed.ts";

type OnChanges = (changes: RunChanges) => void;

interface SharedWatch {
  listeners: Set<{ onChanges: OnChanges }>;
  stop: () => void;
}

/** Keyed by database, then by owner; owners without subscribers have no entry. */
const watches = new WeakMap<RunWatch["database"], Map<string, SharedWatch>>();

/** Calls `onChanges` with changes since the subscription. Returns an unsubscribe function. */
export function subscribeToRuns(watch: RunWatch, onChanges: OnChanges): () => void {
  const owners = watches.get(watch.database) ?? new Map<string, SharedWatch>();
  watches.set(watch.database, owners);
  const shared = owners.get(watch.owner) ?? startSharedWatch(watch);
  owners.set(watch.owner, shared);
  const listener = { onChanges };
  shared.listeners.add(listener);
  return () => {
    if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
    shared.stop();
    owners.delete(watch.owner);
  };
}

function startSharedWatch(watch: RunWatch): SharedWatch {
  const listeners = new Set<{ onChanges: OnChanges }>();
  const stop = watchRuns(watch, (changes) => {
    for (const { onChanges } of listeners) onChanges(changes);
  });
  return { listeners, stop };
}
