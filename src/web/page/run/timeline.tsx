/** The timeline of a run, from live events and requests: newest first, long texts collapsed, older entries on request. */

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import type { RunLive, TimelineEntry } from "../../../operations/view/run-view.ts";
import { exactTime } from "../ui/format.ts";

const PAGE_ENTRIES = 100;

interface TimelineProps {
  entries: TimelineEntry[];
  run: RunLive;
  section: RefObject<HTMLElement | null>;
  isFolded?: boolean;
}

export function TimelineList({ entries, run, section, isFolded = false }: TimelineProps) {
  const [limit, setLimit] = useState(PAGE_ENTRIES);
  const shown = entries.toReversed();
  const newest = shown.find(({ kind }) => kind === "thought");
  const isUnfinished = run.completed_at === undefined;
  return (
    <section class="timeline stack" aria-labelledby="timeline-title" ref={section}>
      <details open={!isFolded}>
        <summary>
          <h2 id="timeline-title">Activity</h2>
        </summary>
        {shown.length === 0 ? (
          <p class="quiet">Nothing yet. New entries appear here automatically.</p>
        ) : (
          <ol reversed>
            {shown.slice(0, limit).map((entry) => (
              <Entry key={entry.id} entry={entry} isOpen={isUnfinished && entry === newest} />
            ))}
          </ol>
        )}
        {shown.length > limit ? (
          <button type="button" class="button" onClick={() => setLimit(limit + PAGE_ENTRIES)}>
            Show earlier entries ({shown.length - limit} more)
          </button>
        ) : null}
      </details>
    </section>
  );
}

const SHAPES: Record<TimelineEntry["kind"], string> = {
  state: "M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8",
  thought: "M3 4.5h10v6H8l-3 2.5v-2.5H3z",
  search: "M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8m3 7 3.5 3.5",
  source: "M4 2.5h5.5L12 5v8.5H4zM6 8h4M6 10.5h4",
  round: "M12.5 8A4.5 4.5 0 1 1 8 3.5h3M9 1.5l2 2-2 2",
};

function Entry({ entry, isOpen }: { entry: TimelineEntry; isOpen: boolean }) {
  // The kind is shown beside the text.
  const { head, rest } = entryText(entry.text.replace(/^(?:Searching|Reading|Citing): /, ""));
  // An entry stays open when newer ones arrive, because it may be being read.
  const [open, setOpen] = useState(isOpen);
  return (
    <li class="entry" data-kind={entry.kind} id={`entry-${entry.id}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[entry.kind]} />
      </svg>
      <div class="entry-text">
        {rest === undefined ? (
          <span dir="auto">{head}</span>
        ) : (
          <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
            <summary dir="auto">{head}</summary>
            <p dir="auto">{rest}</p>
          </details>
        )}
      </div>
      <span class="entry-when">
        {NAMES[entry.kind]}{" "}
        <time dateTime={entry.at} title={exactTime(entry.at)}>
          {clockTime(entry.at)}
        </time>
      </span>
    </li>
  );
}

const clockTime = (at: string): string =>
  new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

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
