/**
 * Sends progress notifications for a call, at least every 15 s, because clients drop calls that are silent for long.
 */

import type { ServerContext } from "@modelcontextprotocol/server";
import type { ProgressSink } from "../operations/operation.ts";

/** Soon enough that no user takes the call for hung; a call that ends earlier needs no notification. */
const FIRST_PROGRESS_MS = 1_000;
/** We promise 15 s, below the strictest limit seen (Claude Code, 60 s over HTTP); 1 s is left for the transport. */
const MAX_SILENCE_MS = 14_000;
/** Progress is in percent, so that a client's bar means something. */
const TOTAL = 100;
/** The value must grow with every message, also where no more of the work is known to be done. */
const SMALLEST_STEP = 0.001;
/** Accepted as a task_id, and short enough for one line. */
const SHORT_ID_CHARACTERS = 8;

interface ProgressReporter {
  progress: ProgressSink;
  stop: () => void;
}

/**
 * Progress is sent only with a progressToken, and its value may only grow. The first message of a call that creates a
 * run names it, so that a lost answer is found, unless storing the run takes more than a second.
 */
export function createProgressReporter({ mcpReq }: ServerContext): ProgressReporter {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { progress: () => {}, stop: () => {} };
  const startedAt = performance.now();
  let progress = 0;
  let lastMessage = "Working";
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const send = (message: string, percent = 0): void => {
    if (isStopped) return;
    progress = Math.min(TOTAL, Math.max(progress + SMALLEST_STEP, percent));
    clearTimeout(timer);
    timer = setTimeout(repeatMessage, MAX_SILENCE_MS);
    const params = { progressToken, progress, total: TOTAL, message };
    // A client that has disconnected must not end the research.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
  const repeatMessage = (): void => send(`${lastMessage} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  timer = setTimeout(repeatMessage, FIRST_PROGRESS_MS);
  return {
    progress: (text, { taskId, percent } = {}) => {
      lastMessage = text;
      send(taskId === undefined ? text : `${text} (run ${taskId.slice(0, SHORT_ID_CHARACTERS)})`, percent);
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
