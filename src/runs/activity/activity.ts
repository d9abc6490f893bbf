/** What a running run is doing: its phase, its searches, and the sites it has named so far. */

import { oneLine } from "../../platform/clean-text.ts";
import { siteKey, siteOf, type Site } from "../../reports/site.ts";
import type { Database } from "../../store/database.ts";
import { eventCounts, lastEvent, newestOfKind } from "../event-store.ts";
import { findRounds } from "../result-store.ts";
import type { Run } from "../run.ts";

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
  const rounds = await findRounds(db, taskId);
  const sites = new Map<string, Site>();
  for (const { url, resolved_url: resolved, title } of rounds.flatMap(({ sources }) => sources)) {
    const site = siteOf({ url: resolved ?? url, title });
    if (site !== undefined && !sites.has(siteKey(site))) sites.set(siteKey(site), site);
  }
  return {
    phase: (await lastEvent(db, taskId, "phase"))?.text ?? "Searching",
    searches: rounds.flatMap(({ queries }) => queries).length,
    sites: sites.size,
    latest_sites: [...sites.values()].slice(-MAX_LATEST_SITES).toReversed(),
  };
}

/** Derives what a run is doing at the moment from its events. */

/** Text of the event that is stored when the first words of a report arrive. */
export const WRITING = "Writing the report";

/** Position of the last event of each kind in a run of Google's agent; undefined if there is none. */
interface LastEvents {
  thought: number | undefined;
  search: number | undefined;
  source: number | undefined;
  phase: number | undefined;
}

/** Google may send thoughts only: then it is not known whether the agent searches or reads. */
export function agentPhase({ thought, search = 0, source = 0, phase = 0 }: LastEvents): string {
  // Sites that are named while the report is written are cited, not read.
  if (phase > search) return "Writing";
  if (source > search) return "Reading";
  if (search > 0) return "Searching";
  return thought === undefined ? "Planning" : "Researching";
}

const MAX_HEADING_CHARACTERS = 80;

/** The bold heading with which most thoughts begin: the thought itself is an event of the run. */
export function headingOf(thought: string): string {
  const [line = ""] = thought.trim().split("\n", 1);
  const heading = oneLine(line.replaceAll(/^[#*\s]+|[*\s]+$/g, ""));
  return heading.length <= MAX_HEADING_CHARACTERS ? heading : `${heading.slice(0, MAX_HEADING_CHARACTERS)}…`;
}
