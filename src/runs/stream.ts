/** The progress stream of a run somebody waits for, taken up again wherever it is cut. Only a look decides anything. */

import { oneLine } from "../platform/clean-text.ts";
import type { AgentEvent } from "../gemini/agent.ts";
import { pollNow } from "./claim-store.ts";
import { appendEvents, type RunEvent } from "./event-store.ts";
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
  const story = createStory(deps, run);
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

/** What the events tell, stored at most once a second. */
function createStory(deps: ResearchDeps, run: WatchedRun) {
  const { db, clock } = deps;
  let lastEventId: string | undefined;
  let ended = false;
  let searches = 0;
  let storedAt = 0;
  let waiting: RunEvent[] = [];
  const store = async (): Promise<void> => {
    const events = waiting;
    waiting = [];
    storedAt = clock.now();
    if (events.length === 0) return;
    await appendEvents(db, run.taskId, events);
    await recordSeen(db, run.taskId, {
      progress: progressOf({ agent: run.agent, elapsedMs: storedAt - run.createdAt, searches }),
      currentAction: oneLine(events.at(-1)?.text ?? ""),
      changed: true,
      tokens: undefined,
      costUsd: undefined,
      now: storedAt,
    });
  };
  const tell = (event: AgentEvent): void => {
    lastEventId = event.eventId ?? lastEventId;
    ended ||= event.kind === "done";
    if (event.kind === "search") searches += 1;
    if (event.kind === "thought" || event.kind === "search") {
      const text = event.kind === "search" ? `Searching: ${event.query}` : event.text;
      waiting.push({ kind: event.kind, text, at: clock.now() });
    }
    if (clock.now() - storedAt > STORE_EVERY_MS) void store().catch(() => undefined);
  };
  return { tell, store, lastEventId: () => lastEventId, hasEnded: () => ended };
}
