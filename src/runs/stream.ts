/** The progress stream of a run somebody waits for, taken up again wherever it is cut. Only a look decides anything. */

import { createHash } from "node:crypto";
import { z } from "zod";
import { oneLine } from "../platform/clean-text.ts";
import type { AgentEvent } from "../gemini/agent.ts";
import { pollNow } from "./claim-store.ts";
import { appendEvents, type RunEvent, storedPlace, type StoredPlace } from "./event-store.ts";
import { recordSeen } from "./follow-store.ts";
import { progressOf } from "./progress.ts";
import type { ResearchDeps } from "./research.ts";

export interface WatchedRun {
  taskId: string;
  interactionId: string;
  agent: string;
  createdAt: number;
}

const STORE_EVERY_MS = 1_000;

export async function followStream(deps: ResearchDeps, run: WatchedRun, signal: AbortSignal): Promise<void> {
  const { interactionId, taskId } = run;
  const place = await storedPlace(deps.db, taskId).catch(() => undefined);
  const story = createStory(deps, run, { place, signal });
  let lastEventId: string | undefined;
  // Google cuts every stream after ten minutes. One that brought nothing new is not opened again.
  do {
    lastEventId = story.lastEventId();
    await deps.agent.follow({ interactionId, lastEventId, signal, onEvent: story.tell });
    if (signal.aborted) return;
    await story.store().catch(() => undefined);
  } while (!story.hasEnded() && story.lastEventId() !== lastEventId);
  await pollNow(deps.db, taskId).catch(() => undefined);
}

/** An event may carry several searches. A restarted run has another interaction, whose events are counted anew. */
const markOf = ({ interactionId }: WatchedRun, eventId: string, text: string): string =>
  JSON.stringify([interactionId, eventId, createHash("sha256").update(text).digest("hex").slice(0, 16)]);

function eventIdOf({ interactionId }: WatchedRun, mark: string | undefined): string | undefined {
  const [interaction, eventId] = z.array(z.string()).parse(JSON.parse(mark ?? "[]"));
  return interaction === interactionId ? eventId : undefined;
}

interface Telling {
  /** Where an earlier listener was. */
  place: StoredPlace | undefined;
  signal: AbortSignal;
}

/** What the events tell, stored at most once a second. What an earlier listener has stored is not asked for again. */
function createStory(deps: ResearchDeps, run: WatchedRun, { place, signal }: Telling) {
  const { db, clock } = deps;
  let lastEventId = eventIdOf(run, place?.mark);
  let ended = false;
  let searches = place?.searches ?? 0;
  let storedAt = 0;
  let waiting: RunEvent[] = [];
  let storing: Promise<void> = Promise.resolve();
  let soon: Promise<void> | undefined;
  /** One after the other, so that they stand in the order in which they came. */
  const store = (): Promise<void> => {
    storing = storing.catch(() => undefined).then(storeWaiting);
    return storing;
  };
  const storeWaiting = async (): Promise<void> => {
    const events = waiting;
    waiting = [];
    storedAt = clock.now();
    if (events.length === 0) return;
    const added = await appendEvents(db, run.taskId, events).catch((error: unknown) => {
      // Told later, in their order: a reader who has seen what comes after them would miss them.
      waiting = [...events, ...waiting];
      throw error;
    });
    // What another process has told before says nothing about now.
    if (added === 0) return;
    await recordSeen(db, run.taskId, {
      progress: progressOf({ agent: run.agent, elapsedMs: storedAt - run.createdAt, searches }),
      currentAction: oneLine(events.at(-1)?.text ?? ""),
      changed: true,
      tokens: undefined,
      cost: undefined,
      now: storedAt,
    });
  };
  const tell = (event: AgentEvent): void => {
    lastEventId = event.eventId ?? lastEventId;
    ended ||= event.kind === "done";
    if (event.kind === "search") searches += 1;
    if (event.kind === "thought" || event.kind === "search") {
      const text = event.kind === "search" ? `Searching: ${event.query}` : event.text;
      const mark = event.eventId === undefined ? undefined : markOf(run, event.eventId, text);
      waiting.push({ kind: event.kind, text, at: clock.now(), mark });
    }
    // The last of several that come at once must not wait for the next, which may be minutes away.
    soon ??= clock
      .sleep(clock.now() - storedAt > STORE_EVERY_MS ? 0 : STORE_EVERY_MS, signal)
      .then(store)
      .catch(() => undefined)
      .finally(() => (soon = undefined));
  };
  return { tell, store, lastEventId: () => lastEventId, hasEnded: () => ended };
}
