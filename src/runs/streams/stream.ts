/** Stores the events of a watched run's progress stream and reconnects when it is cut; only polls end the run. */

import { createHash } from "node:crypto";
import { z } from "zod";
import { oneLine } from "../../platform/clean-text.ts";
import { headingOf, WRITING } from "../activity/activity.ts";
import { pollKeyOf } from "../../store/processes.ts";
import type { AgentEvent } from "../../gemini/research-agent.ts";
import { permitStream } from "../scheduling/permits.ts";
import { isRunningAtGoogle, pollNow } from "../scheduling/polled-store.ts";
import { appendEvents, type RunEvent, storedCursor, type StreamCursor } from "../event-store.ts";
import { recordSeen } from "../poll/seen-store.ts";
import { progressBySeen } from "../history/run-estimate.ts";
import type { ResearchDeps } from "../deps.ts";
import type { RunAtGoogle } from "../run.ts";
import { storedJson } from "../run-row.ts";
import { siteKey, siteOf } from "../../reports/site.ts";

export type WatchedRun = Pick<RunAtGoogle, "taskId" | "interactionId" | "model" | "part">;

export interface StreamOptions {
  signal: AbortSignal;
  maxRps: number;
}

const STORE_INTERVAL_MS = 1_000;
/** Reconnect delay, doubled while reconnects return nothing new. */
const MIN_RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 60_000;

/** Google cuts streams after ten minutes at the latest, and few events have an id to resume from. */
export async function followStream(deps: ResearchDeps, run: WatchedRun, options: StreamOptions): Promise<void> {
  const { taskId, interactionId } = run;
  const { signal, maxRps } = options;
  const timeline = createTimeline(deps, run, {
    cursor: await storedCursor(deps.db, taskId).catch(() => undefined),
    signal,
  });
  let pauseMs = MIN_RECONNECT_MS;
  let isRunning = true;
  try {
    for (;;) {
      const key = pollKeyOf(deps.agent.fingerprint);
      const waitMs = await permitStream(deps.db, { maxRps, key, now: deps.clock.now() });
      if (waitMs > 0) await deps.clock.sleep(waitMs, signal);
      const lastEventId = timeline.reopen();
      await deps.agent.stream({ interactionId, lastEventId, signal, onEvent: timeline.receive });
      if (signal.aborted) return;
      const hasNewEvents = await timeline.store().catch(() => true);
      if (timeline.hasEnded() || !isRunning) break;
      if (timeline.hasFailed()) await pollNow(deps, taskId);
      pauseMs = hasNewEvents ? MIN_RECONNECT_MS : Math.min(MAX_RECONNECT_MS, pauseMs * 2);
      await deps.clock.sleep(pauseMs, signal);
      // A run that ended during the pause is streamed once more, for its remaining events.
      isRunning = await isRunningAtGoogle(deps.db, taskId);
    }
  } catch {
    // A database error, or the stream was closed: polls continue without it.
    if (signal.aborted) return;
  }
  await pollNow(deps, taskId).catch(() => undefined);
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Identifies an event within its interaction: a restarted run has another one, whose positions start again. */
const eventKeyOf = ({ interactionId }: WatchedRun, position: string[]): string =>
  JSON.stringify([interactionId, ...position]);

function eventIdOf({ interactionId }: WatchedRun, key: string | undefined): string | undefined {
  const [interaction, eventId] = storedJson(key ?? "[]", z.array(z.string()));
  return interaction === interactionId && eventId !== "" ? eventId : undefined;
}

interface TimelineOptions {
  /** The stored position of an earlier stream. */
  cursor: StreamCursor | undefined;
  signal: AbortSignal;
}

/**
 * Assigns each event a key by which repeated events are recognised: its id and text, as an event may contain several
 * searches. Without an id: its text and its occurrence since the start, as a reopened stream repeats all events.
 */
function createPositions(run: WatchedRun, first: string | undefined) {
  const convert = createEventConverter({ isPlanning: run.part === "plan" });
  let counts = new Map<string, number>();
  let atLastId = { eventId: first, counts: new Map<string, number>() };
  let resumedFrom: string | undefined;
  const nextKey = (eventId: string | undefined, text: string): string => {
    const digest = digestOf(text);
    if (eventId !== undefined) return eventKeyOf(run, [eventId, digest]);
    const count = (counts.get(digest) ?? 0) + 1;
    counts.set(digest, count);
    return eventKeyOf(run, ["", digest, String(count)]);
  };
  return {
    /** Returns the id to resume from. An id that returned nothing new is dropped: the stream is read from its start. */
    reopen: (): string | undefined => {
      if (atLastId.eventId === resumedFrom) atLastId = { eventId: undefined, counts: new Map() };
      resumedFrom = atLastId.eventId;
      counts = new Map(atLastId.counts);
      return resumedFrom;
    },
    /** Moves past the event and returns what to store of it. */
    read: (event: AgentEvent, at: number): StreamEvent[] => {
      const { eventId } = event;
      const stored = convert(event).map(({ once, ...converted }) => ({
        ...converted,
        at,
        eventKey: once === undefined ? nextKey(eventId, converted.text) : eventKeyOf(run, ["", digestOf(once)]),
      }));
      if (eventId !== undefined) atLastId = { eventId, counts: new Map(counts) };
      return stored;
    },
  };
}

function actionIn(events: StreamEvent[]): string | undefined {
  const last = events.findLast(({ isSilent }) => isSilent !== true);
  return last && (last.kind === "thought" ? headingOf(last.text) : oneLine(last.text));
}

/** Buffers the events of a stream and stores them at most once a second. */
function createTimeline(deps: ResearchDeps, run: WatchedRun, { cursor, signal }: TimelineOptions) {
  const { db, clock } = deps;
  const positions = createPositions(run, eventIdOf(run, cursor?.eventKey));
  let ended = false;
  let failed = false;
  let hasNewEvents = false;
  let searches = cursor?.searches ?? 0;
  let thoughts = cursor?.thoughts ?? 0;
  let storedAt = 0;
  let buffered: StreamEvent[] = [];
  let storing: Promise<void> = Promise.resolve();
  let scheduled: Promise<void> | undefined;
  /** Writes are serialized to keep the order of events. Resolves with true if there were new events. */
  const store = async (): Promise<boolean> => {
    storing = storing.catch(() => undefined).then(storeBuffered);
    await storing;
    return hasNewEvents;
  };
  const storeBuffered = async (): Promise<void> => {
    const events = buffered;
    buffered = [];
    storedAt = clock.now();
    if (events.length === 0) return;
    const added = await appendEvents(db, run.taskId, events).catch((error: unknown) => {
      // Retried before later events: a reader that is past their position would miss them.
      buffered = [...events, ...buffered];
      throw error;
    });
    // Repeated events do not change the current action.
    if (added.length === 0) return;
    hasNewEvents = true;
    searches += added.filter(({ kind }) => kind === "search").length;
    thoughts += added.filter(({ kind }) => kind === "thought").length;
    const seen = {
      progress: progressBySeen(run.model ?? "", { searches, thoughts }),
      currentAction: actionIn(added),
      changed: true,
      now: storedAt,
    };
    await recordSeen(db, [{ taskId: run.taskId, seen }]);
  };
  const receive = (event: AgentEvent): void => {
    ended ||= event.kind === "done";
    failed ||= event.kind === "error";
    buffered.push(...positions.read(event, clock.now()));
    // Scheduled, so that the last event of a burst is not delayed until the next one, possibly minutes later.
    scheduled ??= clock
      .sleep(clock.now() - storedAt > STORE_INTERVAL_MS ? 0 : STORE_INTERVAL_MS, signal)
      .then(store)
      .then(() => undefined)
      .catch(() => undefined)
      .finally(() => (scheduled = undefined));
  };
  const reopen = (): string | undefined => {
    hasNewEvents = false;
    failed = false;
    return positions.reopen();
  };
  return { receive, store, reopen, hasEnded: () => ended, hasFailed: () => failed };
}

interface StreamEvent extends RunEvent {
  /** Not an action of the agent: the report cites many pages while it is written. */
  isSilent?: boolean | undefined;
}

/** An event before it has a time and a key. */
interface Converted extends Pick<StreamEvent, "kind" | "text" | "site" | "isSilent"> {
  /** Given for what is stored once per interaction, however often it is streamed. */
  once?: string;
}

/** Begins the text of an event for a page that the report cites. */
const CITING = "Citing: ";

/** Google's largest runs search 160 times. */
const MAX_SITES = 500;

/** Returns nothing for events that are not stored, and for sites that this stream has named before. */
function createEventConverter({ isPlanning = false } = {}): (event: AgentEvent) => Converted[] {
  const named = new Set<string>();
  let isWriting = false;
  // Distinct ones: a stream that is opened again may repeat its events.
  const queries = new Set<string>();
  return (event) => {
    if (event.kind === "thought") return [{ kind: "thought", text: event.text }];
    if (event.kind === "search") {
      isWriting = false;
      queries.add(event.query);
      return [{ kind: "search", text: `Searching: ${event.query}` }];
    }
    // The text of a planning turn is a plan, and the phase of the research that follows must not be "writing".
    if (event.kind === "text" && !isWriting && !isPlanning) {
      isWriting = true;
      return [{ kind: "phase", text: WRITING, once: `writing ${queries.size}` }];
    }
    if (event.kind !== "page") return [];
    const site = siteOf(event);
    if (site === undefined || named.size >= MAX_SITES || named.has(siteKey(site))) return [];
    named.add(siteKey(site));
    const isCited = event.use === "cited";
    const text = `${isCited ? CITING : "Reading: "}${nameOf(site)}`;
    return [{ kind: "source", text, site, isSilent: isCited, once: `site ${siteKey(site)}` }];
  };
}

const nameOf = ({ title, domain }: { title: string; domain: string }): string =>
  domain === "" || title === domain ? title : `${title} (${domain})`;
