/** R4: many saves of the same few reports by several processes within the same seconds. */

import { existsSync } from "node:fs";
import { judge } from "../kit/judge/kills-judge.ts";
import { openKillWorld } from "../kit/kills/world.ts";
import { finishedRuns } from "./finished-runs.ts";
import { inLanes, inTurn } from "./lanes.ts";

const PROCESSES = 4;

export interface SaveVerdict {
  saved: number;
  /** Files that contain exactly what is rendered from the database. */
  whole: number;
  /** Paths that were returned twice, so that one save overwrote another. */
  overwritten: number;
  missing: number;
  broken: string[];
}

export async function saveMany({ saves, seed }: { saves: number; seed: number }): Promise<SaveVerdict> {
  const world = await openKillWorld({
    seed,
    build: "dist",
    scenario: { name: "saves", interactions: { duration_ms: 0 } },
  });
  try {
    const children = Array.from({ length: PROCESSES }, () => world.begin());
    const runs = await finishedRuns(world, inTurn(children, 0), 3);
    const paths: string[] = [];
    await inLanes(saves, 4 * PROCESSES, async (n, lane) => {
      const input = { task_id: inTurn(runs, n), include_metadata: false };
      const answer = await inTurn(children, lane).call("save_research_to_markdown", input);
      const path = answer?.["file_path"];
      if (answer?.success === true && typeof path === "string") paths.push(path);
    });
    for (const child of children) child.closeStdin();
    await Promise.all(children.map((child) => child.ended));
    const { broken, counts } = judge(world);
    return {
      saved: paths.length,
      whole: counts["files"] ?? 0,
      overwritten: paths.length - new Set(paths).size,
      missing: paths.filter((path) => !existsSync(path)).length,
      broken,
    };
  } finally {
    await world.close();
  }
}
