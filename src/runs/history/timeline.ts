/** Builds the timeline of a run from its own times, attempts, rounds and events. */

import type { Database } from "../../store/database.ts";
import { attemptsOf } from "../attempt-store.ts";
import { eventsAfter, newestEvents, type StoredEvent } from "../event-store.ts";
import { isFinished, type Run } from "../run.ts";
import { isTableStart } from "../start/start-options.ts";
import { roundSummaries, storedQueries } from "../result-store.ts";

export interface RunTimelineEntry {
  /** Stable within the run. */
  id: string;
  at: number;
  kind: "state" | "thought" | "search" | "source" | "round";
  text: string;
}

export interface RunTimeline {
  entries: RunTimelineEntry[];
  lastSeq: number;
}

/** Google's longest runs have a few hundred events. */
const MAX_EVENTS = 2_000;

/** Oldest first. */
export async function readTimeline(db: Database, run: Run): Promise<RunTimeline> {
  const events = await newestEvents(db, run.taskId, MAX_EVENTS);
  const first = events[0];
  const cut: RunTimelineEntry[] =
    first === undefined || first.seq === 1
      ? []
      : [{ id: "cut", at: first.at, kind: "state", text: `${first.seq - 1} earlier entries are not shown.` }];
  return {
    entries: sortByTime([...cut, ...(await milestones(db, run)), ...events.map(entryOf)]),
    lastSeq: events.at(-1)?.seq ?? 0,
  };
}

export async function timelineEntriesAfter(
  db: Database,
  run: Run,
  { after, limit }: { after: number; limit: number },
): Promise<(RunTimelineEntry & { seq: number })[]> {
  const events = await eventsAfter(db, run.taskId, { after, limit });
  return events.map((event) => ({ ...entryOf(event), seq: event.seq }));
}

/** Timeline entries that are not events of the run: creation, attempts, rounds, cancel and end. */
export async function milestones(db: Database, run: Run): Promise<RunTimelineEntry[]> {
  const attempts = run.kind === "agent" ? await attemptsOf(db, run.taskId) : [];
  const rounds = run.kind === "deep_search" ? await roundSummaries(db, run.taskId) : [];
  const queries = run.kind === "agent" ? [] : await storedQueries(db, run.taskId);
  return sortByTime(
    [
      // By the clock of the database; what follows is by that of a machine, which may be behind.
      state("created", Math.min(run.createdAt, run.startedAt ?? Infinity), createdText(run)),
      ...attempts.flatMap(({ state: became, sentAt, answeredAt, ...attempt }, index) => [
        ...state(`sent-${index + 1}`, sentAt, sentText(attempt, attempts.slice(0, index).findLast(wasSent))),
        ...state(`answered-${index + 1}`, answeredAt, answeredText(became, sentAt)),
      ]),
      ...rounds.map(({ roundNumber, verified, summary, completedAt }) => ({
        id: `r${roundNumber}`,
        at: completedAt,
        kind: "round" as const,
        text: `Round ${roundNumber}, ${verified ? "verified" : "not verified"}. ${summary}`.trim(),
      })),
      ...queries.map(({ at, text }, index) => ({ id: `q${index + 1}`, at, kind: "search" as const, text })),
      ...state("cancel", run.cancelRequestedAt, "Cancel requested"),
      ...state(`ended-${run.status}`, isFinished(run.status) ? run.completedAt : undefined, endOf(run)),
    ].flat(),
  );
}

function createdText({ parentTaskId, followupContext, options }: Run): string {
  if (isTableStart(options)) return "Asked for a table";
  if (followupContext !== undefined) return "Asked as a follow-up";
  return parentTaskId === undefined ? "Created" : "Continued from an earlier search";
}

function state(id: string, at: number | undefined, text: string | undefined): RunTimelineEntry[] {
  return at === undefined || text === undefined ? [] : [{ id, at, kind: "state", text }];
}

interface SentTurn {
  turn: number;
  isPlanning: boolean;
}

function sentText({ turn, isPlanning }: SentTurn, before: SentTurn | undefined): string {
  if (before === undefined) return isPlanning ? "Asked Google for a plan" : "Sent to Google";
  if (before.turn === turn) return "Sent to Google again";
  return isPlanning ? "Asked Google to change the plan" : "Plan approved and sent to Google";
}

const wasSent = ({ sentAt }: { sentAt: number | undefined }): boolean => sentAt !== undefined;

const answeredText = (became: string, sentAt: number | undefined): string | undefined =>
  became === "refused" && sentAt === undefined
    ? "The start failed; nothing was sent and nothing was charged"
    : ATTEMPT_TEXTS[became];

const ATTEMPT_TEXTS: Record<string, string> = {
  accepted: "Accepted by Google",
  refused: "The start failed; nothing was charged",
  unknown: "No reply from Google",
};

function endOf({ status, error, cancelConfirmed }: Run): string {
  if (status === "completed") return "Completed";
  if (status === "cancelled")
    return cancelConfirmed === false ? "Cancelled here; Google has not confirmed it" : "Cancelled";
  return error === undefined ? "Failed" : `Failed: ${error.message}`;
}

const KINDS = ["thought", "search", "source"] as const;

const entryOf = ({ seq, at, kind, text }: StoredEvent): RunTimelineEntry => ({
  id: `e${seq}`,
  at,
  kind: KINDS.find((known) => known === kind) ?? "state",
  text,
});

const sortByTime = (entries: RunTimelineEntry[]): RunTimelineEntry[] =>
  entries.toSorted((one, other) => one.at - other.at);
