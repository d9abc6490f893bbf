/** What happened in a run as one list, whether it came live, by a look, or twice. */

import type { TimelineEntry } from "../../wire.ts";

export type TimelineFilter = "all" | "thoughts" | "searches" | "states";

export const TIMELINE_FILTERS: { filter: TimelineFilter; name: string }[] = [
  { filter: "all", name: "Everything" },
  { filter: "thoughts", name: "Thoughts" },
  { filter: "searches", name: "Searches" },
  { filter: "states", name: "States" },
];

const KINDS: Record<TimelineFilter, readonly TimelineEntry["kind"][]> = {
  all: ["state", "thought", "search", "source", "round", "advice"],
  thoughts: ["thought"],
  searches: ["search", "source"],
  states: ["state", "round", "advice"],
};

/** As many as the server sends at once; of a run that says more, the page shows the newest. */
const MAX_ENTRIES = 2_000;

/** Oldest first, each entry once; of two with the same id the later telling counts. */
export function mergeEntries(known: TimelineEntry[], coming: TimelineEntry[]): TimelineEntry[] {
  const last = known.at(-1);
  const [only] = coming;
  // The usual case, thousands of times in a row: one entry that comes after all others.
  if (coming.length === 1 && last !== undefined && only !== undefined && only.at >= last.at) {
    if (known.every(({ id }) => id !== only.id)) return newest([...known, only]);
  }
  const byId = new Map(known.map((entry) => [entry.id, entry]));
  for (const entry of coming) byId.set(entry.id, entry);
  // Times of one format and zone: their text is in their order.
  return newest([...byId.values()].toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at))));
}

/** What was done with the run stays; of what it said, the oldest goes first. */
function newest(entries: TimelineEntry[]): TimelineEntry[] {
  let excess = entries.length - MAX_ENTRIES;
  if (excess <= 0) return entries;
  if (excess === 1) return entries.toSpliced(Math.max(0, entries.findIndex(isSaid)), 1);
  return entries.filter((entry) => !isSaid(entry) || (excess -= 1) < 0);
}

const isSaid = ({ kind }: TimelineEntry): boolean => kind === "thought" || kind === "search";

/** Newest first: what is new stands where the eye is. */
export const shownEntries = (entries: TimelineEntry[], filter: TimelineFilter): TimelineEntry[] =>
  entries.filter(({ kind }) => KINDS[filter].includes(kind)).toReversed();

export function countEntries(entries: TimelineEntry[]): Record<TimelineFilter, number> {
  const count = (filter: TimelineFilter): number => shownEntries(entries, filter).length;
  return { all: entries.length, thoughts: count("thoughts"), searches: count("searches"), states: count("states") };
}

const LONG = 220;
const HEAD = 120;

export interface EntryText {
  head: string;
  /** What is only shown when asked for. */
  rest?: string;
}

/** Google opens a thought with a line in bold; without one a long text is cut at a word. */
export function entryText(text: string): EntryText {
  const titled = /^\s*(?:\*\*([^*\n]{1,200})\*\*|#{1,6}\s+([^\n]{1,200}))\s*\n?([^]*)$/.exec(text);
  const title = titled?.[1] ?? titled?.[2];
  if (title !== undefined) {
    const rest = plain(titled?.[3] ?? "");
    return rest === "" ? { head: title.trim() } : { head: title.trim(), rest };
  }
  const whole = plain(text);
  if (whole.length <= LONG) return { head: whole };
  const cut = whole.lastIndexOf(" ", HEAD);
  return { head: `${whole.slice(0, cut > HEAD / 2 ? cut : HEAD)}…`, rest: whole };
}

const plain = (text: string): string => text.replaceAll(/\*\*([^*\n]+)\*\*/g, "$1").trim();

const NAMES: Record<TimelineEntry["kind"], string> = {
  state: "State",
  thought: "Thought",
  search: "Search",
  source: "Source",
  round: "Round",
  advice: "Advice",
};

export const entryName = ({ kind }: Pick<TimelineEntry, "kind">): string => NAMES[kind];

/** What is said of the entries that came since something was last said: one sentence however many they are. */
export function announcementOf(entries: TimelineEntry[]): string | undefined {
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const newest = `${entryName(last)}: ${entryText(last.text).head}`;
  return entries.length === 1 ? newest : `${entries.length} new entries. ${newest}`;
}
