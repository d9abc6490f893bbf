/** R1: runs that end before, after and around the sync window; the answer, the store and Google's ledger must agree. */

import { drain } from "../kit/kills/kills.ts";
import type { Answer } from "../kit/kills/process.ts";
import { type KillWorld, openKillWorld, seeded } from "../kit/kills/world.ts";
import { inLanes, inTurn } from "./lanes.ts";

/** Half of the runs end within this time of the end of the window, before or after it. */
const CLOSE_MS = 250;
const PROCESSES = 4;
const AT_ONCE = 5 * PROCESSES;
/** The simulator's times and ours are rounded to milliseconds. */
const ROUNDING_MS = 5;

export interface ModeVerdict {
  sync: number;
  async: number;
  /** Runs that ended at Google half a second before the window did, and were returned as async. */
  late: number;
  broken: string[];
}

interface Returned {
  answer: Answer | undefined;
  at: number;
}

interface ModeOptions {
  starts: number;
  seed: number;
  /** Long enough for a run to be collected within it on the measuring machine. */
  windowMs?: number;
}

export async function startAroundWindow({ starts, seed, windowMs = 1_500 }: ModeOptions): Promise<ModeVerdict> {
  const random = seeded(seed);
  const durations = Array.from({ length: starts }, (_, n) =>
    Math.round(n % 2 === 0 ? random() * 2 * windowMs : windowMs + (random() * 2 - 1) * CLOSE_MS),
  );
  const create = durations.map((duration_ms) => ({ life: { duration_ms } }));
  const world = await openKillWorld({
    seed,
    build: "dist",
    scenario: { name: "window", interactions: { speed: 1, create } },
    env: { RESEARCH_SYNC_WINDOW_MS: String(windowMs) },
  });
  try {
    const children = Array.from({ length: PROCESSES }, () => world.begin());
    const returned: Returned[] = [];
    await inLanes(starts, AT_ONCE, async (n, lane) => {
      const answer = await inTurn(children, lane).call("start_deep_research", { query: `Question ${n} about windows` });
      returned.push({ answer, at: Date.now() });
    });
    for (const child of children) child.closeStdin();
    await Promise.all(children.map((child) => child.ended));
    await drain(world);
    return judgeModes(world, returned, { durations, windowMs });
  } finally {
    await world.close();
  }
}

function judgeModes(
  world: KillWorld,
  returned: Returned[],
  { durations, windowMs }: { durations: number[]; windowMs: number },
): ModeVerdict {
  const rows = world.query<{ task_id: string; mode: string; status: string; interaction_id: string }>(
    "select task_id, mode, status, interaction_id from research_tasks",
  );
  const stored = new Map(rows.map((row) => [row.task_id, row]));
  // In the order of the scenario's steps, each of which is used by one start.
  const google = new Map(
    world.gemini.ledger
      .acceptedStarts()
      .map(({ id, at }, n) => [id, { endedAt: at + (durations[n] ?? 0), windowEndsAt: at + windowMs }]),
  );
  const verdict: ModeVerdict = { sync: 0, async: 0, late: 0, broken: [] };
  for (const { answer, at } of returned) {
    const row = stored.get(answer?.task_id ?? "");
    const times = google.get(row?.interaction_id ?? "");
    if (answer === undefined || row === undefined || times === undefined) {
      verdict.broken.push(`A start was answered with ${JSON.stringify(answer)}.`);
      continue;
    }
    const why = disagreement({ answer, at }, row, times);
    if (why !== undefined) verdict.broken.push(`Run ${row.task_id} ${why}.`);
    const isSync = answer["mode"] === "sync";
    verdict[isSync ? "sync" : "async"] += 1;
    if (!isSync && times.endedAt < times.windowEndsAt - 500) verdict.late += 1;
  }
  if (google.size !== returned.length)
    verdict.broken.push(`${google.size} starts were paid for, ${returned.length} wanted.`);
  return verdict;
}

function disagreement(
  { answer, at }: { answer: Answer; at: number },
  row: { mode: string; status: string },
  google: { endedAt: number; windowEndsAt: number },
): string | undefined {
  const { mode, status, results } = answer;
  if (row.status !== "completed") return `is ${row.status} in the end`;
  if (mode !== row.mode) return `was returned as ${String(mode)} and is stored as ${row.mode}`;
  if (mode === "sync") {
    if (status !== "completed" || results === undefined) return "was returned as sync without its report";
    return at < google.endedAt - ROUNDING_MS ? "was returned as finished before it was at Google" : undefined;
  }
  if (mode !== "async" || status !== "running_async" || results !== undefined) return "was returned as neither";
  return at < google.windowEndsAt - ROUNDING_MS ? "was returned as async before the window was over" : undefined;
}
