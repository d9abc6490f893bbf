/** Follows the progress stream of a run that a client watches, and reopens it when it is cut. Only a poll decides. */

import { createHash } from "node:crypto";
import { z } from "zod";
import { oneLine } from "../../platform/clean-text.ts";
import { pollKeyOf } from "../../store/poll-key.ts";
import type { AgentEvent } from "../../gemini/research-agent.ts";
import { isUnderWay, permitStream, pollNow } from "../scheduling/claim-store.ts";
import { appendEvents, type RunEvent, storedCursor, type StreamCursor } from "../event-store.ts";
import { recordSeen } from "../poll/seen-store.ts";
import { progressBySearches } from "../progress.ts";
import type { ResearchDeps } from "../deps.ts";
import { storedJson } from "../unreadable.ts";

export interface WatchedRun {
  taskId: string;
  interactionId: string;
  agent: string;
  createdAt: number;
}

export interface StreamOptions {
  signal: AbortSignal;
  maxRps: number;
}

const STORE_EVERY_MS = 1_000;
/** Between a cut and the next opening; doubled while openings bring nothing new. */
const MIN_REOPEN_MS = 1_000;
const MAX_REOPEN_MS = 60_000;

/** Google cuts every stream after ten minutes, and others earlier; ids to resume from are rare. */
export async function followStream(deps: ResearchDeps, run: WatchedRun, options: StreamOptions): Promise<void> {
  const { taskId, interactionId } = run;
  const { signal, maxRps } = options;
  const timeline = createTimeline(deps, run, {
    place: await storedCursor(deps.db, taskId).catch(() => undefined),
    signal,
  });
  let pauseMs = MIN_REOPEN_MS;
  let underWay = true;
  try {
    for (;;) {
      const key = pollKeyOf(deps.agent.fingerprint);
      const waitMs = await permitStream(deps.db, { maxRps, key, now: deps.clock.now() });
      if (waitMs > 0) await deps.clock.sleep(waitMs, signal);
      const lastEventId = timeline.reopen();
      await deps.agent.stream({ interactionId, lastEventId, signal, onEvent: timeline.receive });
      if (signal.aborted) return;
      const hasNews = await timeline.store().catch(() => true);
      if (timeline.hasEnded() || !underWay) break;
      if (timeline.hasFailed()) await pollNow(deps, taskId);
      pauseMs = hasNews ? MIN_REOPEN_MS : Math.min(MAX_REOPEN_MS, pauseMs * 2);
      await deps.clock.sleep(pauseMs, signal);
      // It ended during the pause: once more, for what is left to be told.
      underWay = await isUnderWay(deps.db, taskId);
    }
  } catch {
    // The database refused, or the watcher left: polls go on without a stream.
    if (signal.aborted) return;
  }
  await pollNow(deps, taskId).catch(() => undefined);
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** An event may carry several searches. A restarted run has another interaction, whose events are counted anew. */
const markOf = ({ interactionId }: WatchedRun, place: string[]): string => JSON.stringify([interactionId, ...place]);

function eventIdOf({ interactionId }: WatchedRun, mark: string | undefined): string | undefined {
  const [interaction, eventId] = storedJson(mark ?? "[]", z.array(z.string()), []);
  return interaction === interactionId && eventId !== "" ? eventId : undefined;
}

interface TimelineOptions {
  /** Where an earlier listener was. */
  place: StreamCursor | undefined;
  signal: AbortSignal;
}

/**
 * Which event of the stream each one is, so that what comes again is known. With an id that is the id. Without, it is
 * the text and how often it has come since the stream's beginning: a stream that is opened again tells the same again.
 */
function createPositions(run: WatchedRun, first: string | undefined) {
  let counts = new Map<string, number>();
  let atLastId = { eventId: first, counts: new Map<string, number>() };
  let resumedFrom: string | undefined;
  return {
    /** The id to resume from. One that brought nothing is not used again: then all is read from the beginning. */
    reopen: (): string | undefined => {
      if (atLastId.eventId === resumedFrom) atLastId = { eventId: undefined, counts: new Map() };
      resumedFrom = atLastId.eventId;
      counts = new Map(atLastId.counts);
      return resumedFrom;
    },
    passed: (eventId: string | undefined): void => {
      if (eventId !== undefined) atLastId = { eventId, counts: new Map(counts) };
    },
    markOf: (eventId: string | undefined, text: string): string => {
      const digest = digestOf(text);
      if (eventId !== undefined) return markOf(run, [eventId, digest]);
      const count = (counts.get(digest) ?? 0) + 1;
      counts.set(digest, count);
      return markOf(run, ["", digest, String(count)]);
    },
  };
}

/** What the events tell, stored at most once a second. */
function createTimeline(deps: ResearchDeps, run: WatchedRun, { place, signal }: TimelineOptions) {
  const { db, clock } = deps;
  const positions = createPositions(run, eventIdOf(run, place?.mark));
  let ended = false;
  let failed = false;
  let hasNews = false;
  let searches = place?.searches ?? 0;
  let storedAt = 0;
  let waiting: RunEvent[] = [];
  let storing: Promise<void> = Promise.resolve();
  let soon: Promise<void> | undefined;
  /** One after the other, so that they stand in the order in which they came. True: there was something new. */
  const store = async (): Promise<boolean> => {
    storing = storing.catch(() => undefined).then(storeWaiting);
    await storing;
    return hasNews;
  };
  const storeWaiting = async (): Promise<void> => {
    const events = waiting;
    waiting = [];
    storedAt = clock.now();
    if (events.length === 0) return;
    const added = await appendEvents(db, run.taskId, events).catch((error: unknown) => {
      // Sent later, in their order: a reader who has seen what comes after them would miss them.
      waiting = [...events, ...waiting];
      throw error;
    });
    // What was stored before says nothing about now.
    if (added.length === 0) return;
    hasNews = true;
    searches += added.filter(({ kind }) => kind === "search").length;
    await recordSeen(db, run.taskId, {
      progress: progressBySearches(run.agent, searches),
      currentAction: oneLine(added.at(-1)?.text ?? ""),
      changed: true,
      tokens: undefined,
      cost: undefined,
      now: storedAt,
    });
  };
  const receive = (event: AgentEvent): void => {
    ended ||= event.kind === "done";
    failed ||= event.kind === "error";
    if (event.kind === "thought" || event.kind === "search") {
      const text = event.kind === "search" ? `Searching: ${event.query}` : event.text;
      waiting.push({ kind: event.kind, text, at: clock.now(), mark: positions.markOf(event.eventId, text) });
    }
    positions.passed(event.eventId);
    // The last of several that come at once must not wait for the next, which may be minutes away.
    soon ??= clock
      .sleep(clock.now() - storedAt > STORE_EVERY_MS ? 0 : STORE_EVERY_MS, signal)
      .then(store)
      .then(() => undefined)
      .catch(() => undefined)
      .finally(() => (soon = undefined));
  };
  const reopen = (): string | undefined => {
    hasNews = false;
    failed = false;
    return positions.reopen();
  };
  return { receive, store, reopen, hasEnded: () => ended, hasFailed: () => failed };
}
