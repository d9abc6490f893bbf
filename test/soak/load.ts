/**
 * A steady load as clients generate it: starts, status calls, reads, cancels, saves and searches, in a fixed mixture.
 */

import { setTimeout as sleep } from "node:timers/promises";

interface Answer {
  success?: boolean | undefined;
  task_id?: string | undefined;
  error?: { code: string } | undefined;
}

/** Calls a tool of one server, over any transport. Undefined if the server has ended. */
export type CallTool = (tool: string, input: Record<string, unknown>) => Promise<Answer | undefined>;

export interface Load {
  done(): number;
  /** The number of calls by tool, and of errors by tool and code. */
  calls: Map<string, number>;
  errors: Map<string, number>;
  stop(): Promise<void>;
}

export interface LoadOptions {
  callers: CallTool[];
  /** Concurrent calls per server. */
  lanes: number;
  /** Calls of all servers together. */
  perSecond: number;
  random: () => number;
}

const MIXTURE = {
  start_deep_research: 8,
  check_research_status: 40,
  get_research_results: 14,
  list_research: 10,
  cancel_research: 3,
  save_research_to_markdown: 10,
  estimate_research_cost: 10,
  search: 5,
};
type Tool = keyof typeof MIXTURE;
const DECK = Object.entries(MIXTURE).flatMap(([tool, share]) => Array.from({ length: share }, () => tool as Tool));

/** The number of runs that a client remembers; the store keeps all. */
const MAX_REMEMBERED_RUNS = 100;

export function beginLoad({ callers, lanes, perSecond, random }: LoadOptions): Load {
  const load = { calls: new Map<string, number>(), errors: new Map<string, number>() };
  const stopping = new AbortController();
  let done = 0;
  let questions = 0;
  const pauseMs = (1_000 * callers.length * lanes) / perSecond;
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];
  const lane = async (call: CallTool): Promise<void> => {
    const runs: string[] = [];
    let turn = performance.now() + random() * pauseMs;
    while (!stopping.signal.aborted) {
      await sleep(Math.max(0, turn - performance.now()));
      turn = Math.max(turn + pauseMs, performance.now());
      const task_id = pick(runs);
      const tool = task_id === undefined ? "start_deep_research" : (pick(DECK) ?? "list_research");
      const answer = await call(tool, inputOf(tool, { task_id, question: (questions += 1) }));
      if (answer === undefined) throw new Error(`The server had ended at a ${tool}.`);
      done += 1;
      count(load.calls, tool);
      if (answer.error !== undefined) count(load.errors, `${tool} ${answer.error.code}`);
      if (tool === "start_deep_research" && answer.task_id !== undefined) runs.push(answer.task_id);
      if (runs.length > MAX_REMEMBERED_RUNS) runs.shift();
    }
  };
  const running = Promise.all(callers.flatMap((caller) => Array.from({ length: lanes }, () => lane(caller))));
  // The error is reported by `stop`.
  running.catch(() => undefined);
  return {
    ...load,
    done: () => done,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

function inputOf(tool: Tool, { task_id, question }: { task_id: string | undefined; question: number }) {
  switch (tool) {
    case "start_deep_research":
    case "estimate_research_cost":
    case "search":
      return { query: `Question ${question} about heat pumps` };
    case "list_research":
      return {};
    default:
      return { task_id };
  }
}

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
