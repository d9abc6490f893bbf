/** Merges the timeline entries of a run from live events and requests. */

import type { TimelineEntry } from "../../../operations/view/run-view.ts";

/** As many as the server sends in one response; the newest are kept. */
const MAX_ENTRIES = 2_000;

/** Oldest first, without duplicates; of two entries with the same id the later version counts. */
export function mergeEntries(known: TimelineEntry[], incoming: TimelineEntry[]): TimelineEntry[] {
  const byId = new Map(known.map((entry) => [entry.id, entry]));
  for (const entry of incoming) byId.set(entry.id, entry);
  // All times have the same format and zone, so they sort as text.
  return dropOldest([...byId.values()].toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at))));
}

/** Drops the oldest thoughts, searches and sources first; state changes stay. */
function dropOldest(entries: TimelineEntry[]): TimelineEntry[] {
  let excess = entries.length - MAX_ENTRIES;
  return excess <= 0 ? entries : entries.filter((entry) => !isModelOutput(entry) || (excess -= 1) < 0);
}

const isModelOutput = ({ kind }: TimelineEntry): boolean =>
  kind === "thought" || kind === "search" || kind === "source";

const MAX_UNFOLDED_CHARACTERS = 220;
const MAX_HEAD_CHARACTERS = 120;

export interface EntryText {
  head: string;
  /** Shown when expanded. */
  rest?: string;
}

/** Google starts a thought with a line in bold; otherwise a long text is cut at a word. */
export function entryText(text: string): EntryText {
  const titled = /^\s*(?:\*\*([^*\n]{1,200})\*\*|#{1,6}\s+([^\n]{1,200}))\s*\n?([^]*)$/.exec(text);
  const title = titled?.[1] ?? titled?.[2];
  if (title !== undefined) {
    const rest = plain(titled?.[3] ?? "");
    return rest === "" ? { head: title.trim() } : { head: title.trim(), rest };
  }
  const whole = plain(text);
  if (whole.length <= MAX_UNFOLDED_CHARACTERS) return { head: whole };
  const cut = whole.lastIndexOf(" ", MAX_HEAD_CHARACTERS);
  return { head: `${whole.slice(0, cut > MAX_HEAD_CHARACTERS / 2 ? cut : MAX_HEAD_CHARACTERS)}…`, rest: whole };
}

const plain = (text: string): string => text.replaceAll(/\*\*([^*\n]+)\*\*/g, "$1").trim();

const NAMES: Record<TimelineEntry["kind"], string> = {
  state: "Status",
  thought: "Thought",
  search: "Search",
  source: "Source",
  round: "Round",
};

export const entryName = ({ kind }: Pick<TimelineEntry, "kind">): string => NAMES[kind];
