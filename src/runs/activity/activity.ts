/** What a running run is doing: its phase, its searches, and the sites it has named so far. */

import { siteKey, siteOf, type Site } from "../../reports/site.ts";
import type { Database } from "../../store/database.ts";
import { eventCounts, lastEvent, newestOfKind } from "../event-store.ts";
import { findingsOfRounds } from "../result-store.ts";
import type { Run } from "../run.ts";
import { agentPhase } from "./phase.ts";

export interface RunActivity {
  phase: string;
  searches: number;
  sites: number;
  /** The newest sites, newest first. */
  latest_sites: Site[];
}

const MAX_LATEST_SITES = 5;

export const readActivity = (db: Database, run: Pick<Run, "kind" | "taskId">): Promise<RunActivity> =>
  run.kind === "agent" ? agentActivity(db, run.taskId) : searchActivity(db, run.taskId);

/** From the events of Google's stream, which may name no search and no site before the report is written. */
async function agentActivity(db: Database, taskId: string): Promise<RunActivity> {
  const events = await eventCounts(db, taskId);
  const last = (kind: string): number | undefined => events.get(kind)?.last;
  const newest = events.has("source")
    ? await newestOfKind(db, taskId, { kind: "source", limit: MAX_LATEST_SITES })
    : [];
  return {
    phase: agentPhase({
      thought: last("thought"),
      search: last("search"),
      source: last("source"),
      phase: last("phase"),
    }),
    searches: events.get("search")?.count ?? 0,
    sites: events.get("source")?.count ?? 0,
    latest_sites: newest.flatMap(({ site }) => (site === undefined ? [] : [site])),
  };
}

/** From the finished rounds: what the current one has found is known when it ends. */
async function searchActivity(db: Database, taskId: string): Promise<RunActivity> {
  const { queries, sources } = await findingsOfRounds(db, taskId);
  const sites = new Map<string, Site>();
  for (const { url, resolved_url: resolved, title } of sources) {
    const site = siteOf({ url: resolved ?? url, title });
    if (site !== undefined && !sites.has(siteKey(site))) sites.set(siteKey(site), site);
  }
  return {
    phase: (await lastEvent(db, taskId, "phase"))?.text ?? "Searching",
    searches: queries.length,
    sites: sites.size,
    latest_sites: [...sites.values()].slice(-MAX_LATEST_SITES).toReversed(),
  };
}
