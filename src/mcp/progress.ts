/** Progress of a call: said at once, and never silent for long, because clients drop calls that are. */

import type { ServerContext } from "@modelcontextprotocol/server";

/** Below what anybody takes for a hang; a call that is over sooner needs no word. */
const FIRST_WORD_MS = 1_000;
/** Promised are 15 s, below the strictest limit seen (Claude Code, 60 s over HTTP); the rest is for the way. */
const MOST_SILENCE_MS = 14_000;

export interface Audible {
  progress: (message: string) => void;
  stop: () => void;
}

/**
 * Only who sent a token wants progress; its value may only grow. A call that makes a run is left the first word: it
 * names the task_id, under which the answer is found if the call is lost.
 */
export function audible({ mcpReq }: ServerContext, { makesRun = false }: { makesRun?: boolean } = {}): Audible {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { progress: () => {}, stop: () => {} };
  const startedAt = performance.now();
  let progress = 0;
  let said = "Working";
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const send = (message: string): void => {
    if (over) return;
    progress += 1;
    clearTimeout(timer);
    timer = setTimeout(stillThere, MOST_SILENCE_MS);
    // A client that went away must not end the research.
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(() => {});
  };
  const stillThere = (): void => send(`${said} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  timer = setTimeout(stillThere, makesRun ? MOST_SILENCE_MS : FIRST_WORD_MS);
  return {
    progress: (message) => {
      said = message;
      send(message);
    },
    stop: () => {
      over = true;
      clearTimeout(timer);
    },
  };
}
