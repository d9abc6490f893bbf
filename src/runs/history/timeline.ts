/** Builds the timeline of a run from its own times, attempts, rounds and events. */

import type { Database } from "../../store/database.ts";
import { attemptsOf } from "../attempt-store.ts";
import { lineOf } from "../conversation-store.ts";
import { eventsAfter, newestEvents, type StoredEvent } from "../event-store.ts";
import { editOf } from "../plan/plan-store.ts";
import { isFinished, type Run } from "../run.ts";
import { runOf } from "../run-row.ts";
import { isTableStart } from "../start/start-options.ts";
import { storedQueries } from "../result-store.ts";

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

/** Timeline entries that are not events of the run: creation, starts, searches, cancel and end. */
export async function milestones(db: Database, run: Run): Promise<RunTimelineEntry[]> {
  const line = run.kind === "agent" ? (await lineOf(db, run.taskId)).map(runOf) : [run];
  const sends = run.kind === "agent" ? await sendsOf(db, line) : [];
  const queries = run.kind === "agent" ? [] : await storedQueries(db, run.taskId);
  const first = line[0] ?? run;
  return sortByTime(
    [
      // By the clock of the database; what follows is by that of a machine, which may be behind.
      state("created", Math.min(first.createdAt, first.startedAt ?? Infinity), createdText(first)),
      ...sends.flatMap(({ sentAt, answeredAt, sent, answered }, index) => [
        ...state(`sent-${index + 1}`, sentAt, sent),
        ...state(`answered-${index + 1}`, answeredAt, answered),
      ]),
      ...queries.map(({ at, text }, index) => ({ id: `q${index + 1}`, at, kind: "search" as const, text })),
      ...state("cancel", run.cancelRequestedAt, "Cancel requested"),
      ...state(`ended-${run.status}`, isFinished(run.status) ? run.completedAt : undefined, endOf(run)),
    ].flat(),
  );
}

function createdText({ kind, parentTaskId, followupContext, options }: Run): string {
  if (isTableStart(options)) return "Asked for a table";
  if (followupContext !== undefined) return "Asked as a follow-up";
  return kind === "agent" || parentTaskId === undefined ? "Created" : "Continued from an earlier search";
}

function state(id: string, at: number | undefined, text: string | undefined): RunTimelineEntry[] {
  return at === undefined || text === undefined ? [] : [{ id, at, kind: "state", text }];
}

/** The starts of a line of runs, in their order. */
async function sendsOf(db: Database, line: Run[]) {
  const sends = [];
  for (const run of line) {
    const origin = line.find(({ taskId }) => taskId === run.carriesOn);
    let isAgain = origin !== undefined && origin.interactionId === undefined;
    for (const { state: became, sentAt, answeredAt } of await attemptsOf(db, run.taskId)) {
      const sent = isAgain ? "Sent to Google again" : sentText(run);
      sends.push({ sentAt, answeredAt, sent, answered: answeredText(became, sentAt) });
      isAgain ||= sentAt !== undefined;
    }
  }
  return sends;
}

function sentText({ part, options }: Run): string {
  if (part === "research") return "Plan approved and sent to Google";
  if (part !== "plan") return "Sent to Google";
  return editOf(options) === undefined ? "Asked Google for a plan" : "Asked Google to change the plan";
}

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

const KINDS = ["thought", "search", "source", "round"] as const;

const entryOf = ({ seq, at, kind, text }: StoredEvent): RunTimelineEntry => ({
  id: `e${seq}`,
  at,
  kind: KINDS.find((known) => known === kind) ?? "state",
  text,
});

const sortByTime = (entries: RunTimelineEntry[]): RunTimelineEntry[] =>
  entries.toSorted((one, other) => one.at - other.at);
