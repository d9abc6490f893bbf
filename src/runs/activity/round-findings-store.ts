/** SQL for what the finished rounds of a search have found. */

import { z } from "zod";
import type { Database } from "../../store/database.ts";
import { storedJson } from "../unreadable.ts";

const queryList = z.array(z.string());
const sourceList = z.array(z.object({ url: z.string(), resolved_url: z.string().optional(), title: z.string() }));

interface RoundFindings {
  queries: string[];
  sources: z.infer<typeof sourceList>;
}

/** Oldest first. A continued search has the rounds of the earlier one, too. */
export async function findingsOfRounds(db: Database, taskId: string): Promise<RoundFindings> {
  const rounds = await db
    .selectFrom("research_rounds")
    .select(["queries_json", "sources_json"])
    .where("task_id", "=", taskId)
    .orderBy("round_number")
    .execute();
  return {
    queries: rounds.flatMap((round) => storedJson(round.queries_json, queryList, [])),
    sources: rounds.flatMap((round) => storedJson(round.sources_json, sourceList, [])),
  };
}
