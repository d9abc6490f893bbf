/** What happened to a run, as one story: its own times, what was sent for it, its rounds, and what it said. */

import type { Database } from "../../store/database.ts";
import { attemptsOf } from "../attempt-store.ts";
import { eventsAfter, newestEvents, type PlacedEvent } from "../event-store.ts";
import { isFinished, type Run } from "../run.ts";
import { roundSummaries } from "../result-store.ts";

export interface StoryEntry {
  /** Stable within the run. */
  id: string;
  at: number;
  kind: "state" | "thought" | "search" | "source" | "round" | "advice";
  text: string;
}

export interface Story {
  entries: StoryEntry[];
  lastSeq: number;
}

/** More than anybody reads; Google's longest runs say a few hundred things. */
const MOST_EVENTS = 2_000;

/** Oldest first. */
export async function readStory(db: Database, run: Run): Promise<Story> {
  const events = await newestEvents(db, run.taskId, MOST_EVENTS);
  const first = events[0];
  const cut: StoryEntry[] =
    first === undefined || first.seq === 1
      ? []
      : [{ id: "cut", at: first.at, kind: "state", text: `${first.seq - 1} earlier entries are not shown.` }];
  return {
    entries: inOrder([...cut, ...(await milestones(db, run)), ...events.map(entryOf)]),
    lastSeq: events.at(-1)?.seq ?? 0,
  };
}

export async function storyAfter(
  db: Database,
  run: Run,
  { after, limit }: { after: number; limit: number },
): Promise<(StoryEntry & { seq: number })[]> {
  const events = await eventsAfter(db, run.taskId, { after, limit });
  return events.map((event) => ({ ...entryOf(event), seq: event.seq }));
}

/** What is told of a run besides what it said itself; few, whatever the run. */
export async function milestones(db: Database, run: Run): Promise<StoryEntry[]> {
  const attempts = run.kind === "agent" ? await attemptsOf(db, run.taskId) : [];
  const rounds = run.kind === "deep_search" ? await roundSummaries(db, run.taskId) : [];
  return inOrder(
    [
      state("created", run.createdAt, run.parentTaskId === undefined ? "Asked" : "Went on from an earlier search"),
      ...attempts.flatMap(({ state: became, sentAt, answeredAt }, index) => [
        ...state(`sent-${index + 1}`, sentAt, index === 0 ? "Sent to Google" : "Sent to Google once more"),
        ...state(`answered-${index + 1}`, answeredAt, ANSWER[became]),
      ]),
      ...rounds.map(({ roundNumber, verified, summary, completedAt }) => ({
        id: `r${roundNumber}`,
        at: completedAt,
        kind: "round" as const,
        text: `Round ${roundNumber}, ${verified ? "verified" : "not verified"}. ${summary}`.trim(),
      })),
      ...state("cancel", run.cancelRequestedAt, "Asked to stop"),
      ...state(`ended-${run.status}`, isFinished(run.status) ? run.completedAt : undefined, endOf(run)),
    ].flat(),
  );
}

function state(id: string, at: number | undefined, text: string | undefined): StoryEntry[] {
  return at === undefined || text === undefined ? [] : [{ id, at, kind: "state", text }];
}

const ANSWER: Record<string, string> = {
  accepted: "Google accepted the research",
  refused: "The start failed; nothing was charged",
  unknown: "No answer: it is not known whether Google started it",
};

function endOf({ status, error, cancelConfirmed }: Run): string {
  if (status === "completed") return "Completed";
  if (status === "cancelled")
    return cancelConfirmed === false ? "Cancelled here; Google has not confirmed it" : "Cancelled";
  return error === undefined ? "Failed" : `Failed: ${error.message}`;
}

const KINDS = ["thought", "search", "advice"] as const;

const entryOf = ({ seq, at, kind, text }: PlacedEvent): StoryEntry => ({
  id: `e${seq}`,
  at,
  kind: KINDS.find((known) => known === kind) ?? "state",
  text,
});

/** By time; what happened at the same moment stays as it was told. */
const inOrder = (entries: StoryEntry[]): StoryEntry[] => entries.toSorted((one, other) => one.at - other.at);
