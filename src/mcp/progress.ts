/**
 * Sends progress notifications for a call, at least every 15 s, because clients drop calls that are silent for long.
 */

import type { ServerContext } from "@modelcontextprotocol/server";

/** Soon enough that no user takes the call for hung; a call that ends earlier needs no notification. */
const FIRST_PROGRESS_MS = 1_000;
/** We promise 15 s, below the strictest limit seen (Claude Code, 60 s over HTTP); 1 s is left for the transport. */
const MAX_SILENCE_MS = 14_000;

interface ProgressReporter {
  progress: (message: string, taskId?: string) => void;
  stop: () => void;
}

/**
 * Progress is sent only with a progressToken, and its value may only grow. The first message of a call that creates a
 * run is the one with the task_id, under which a lost answer is found, unless storing the run takes more than a second.
 */
export function createProgressReporter({ mcpReq }: ServerContext): ProgressReporter {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { progress: () => {}, stop: () => {} };
  const startedAt = performance.now();
  let progress = 0;
  let lastMessage = "Working";
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const send = (message: string): void => {
    if (isStopped) return;
    progress += 1;
    clearTimeout(timer);
    timer = setTimeout(repeatMessage, MAX_SILENCE_MS);
    // A client that has disconnected must not end the research.
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(() => {});
  };
  const repeatMessage = (): void => send(`${lastMessage} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  timer = setTimeout(repeatMessage, FIRST_PROGRESS_MS);
  return {
    progress: (text, taskId) => {
      const message = taskId === undefined ? text : `${text} (task_id ${taskId})`;
      lastMessage = message;
      send(message);
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
