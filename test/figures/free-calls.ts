/** R5 and R6: calls that must be free of charge, each repeated thousands of times, and their duration. */

import { openKillWorld } from "../kit/kills/world.ts";
import type { KillWorld } from "../kit/kills/world.ts";
import { finishedRuns } from "./finished-runs.ts";
import { inTurn } from "./lanes.ts";

const FREE = {
  check_research_status: "task",
  get_research_results: "task",
  cancel_research: "task",
  save_research_to_markdown: "task",
  list_research: "nothing",
  estimate_research_cost: "query",
} as const;

export interface FreeVerdict {
  calls: number;
  /** Requests of any kind that reached Google meanwhile. */
  requests: number;
  tokens: number;
  /** Milliseconds by tool. */
  took: Record<string, number[]>;
  /** Unexpected answers. */
  broken: string[];
}

export async function makeFreeCalls({ each, seed }: { each: number; seed: number }): Promise<FreeVerdict> {
  const world = await openKillWorld({
    seed,
    build: "dist",
    scenario: { name: "free", interactions: { duration_ms: 0 } },
  });
  try {
    const child = world.begin();
    const runs = await finishedRuns(world, child, 3);
    const before = { requests: requestsOf(world), tokens: tokensOf(world) };
    const verdict: FreeVerdict = { calls: 0, requests: 0, tokens: 0, took: {}, broken: [] };
    for (let n = 0; n < each; n += 1) {
      for (const [tool, takes] of Object.entries(FREE)) {
        const input = takes === "task" ? { task_id: inTurn(runs, n) } : takes === "query" ? { query: `Why ${n}?` } : {};
        const from = performance.now();
        const answer = await child.call(tool, input);
        (verdict.took[tool] ??= []).push(performance.now() - from);
        verdict.calls += 1;
        // Cancelling a finished run is an error.
        const expected = tool === "cancel_research" ? "RESEARCH_ALREADY_COMPLETED" : undefined;
        if (answer === undefined || answer.error?.code !== expected) verdict.broken.push(JSON.stringify(answer));
      }
    }
    verdict.requests = requestsOf(world) - before.requests;
    verdict.tokens = tokensOf(world) - before.tokens;
    child.closeStdin();
    await child.ended;
    return verdict;
  } finally {
    await world.close();
  }
}

function requestsOf({ gemini }: KillWorld): number {
  const counts = Object.values(gemini.ledger.interactionRequests());
  return counts.reduce((sum, count) => sum + count, gemini.ledger.count());
}

const tokensOf = (world: KillWorld): number =>
  world.query<{ tokens: number }>("select sum(tokens_input + tokens_output) as tokens from research_tasks")[0]
    ?.tokens ?? 0;
