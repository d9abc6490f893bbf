/** The kinds of paid requests, with their names for people. */

export const COST_KINDS = ["research", "plan", "followup", "table", "search", "round", "correction", "judge"] as const;
export type CostKind = (typeof COST_KINDS)[number];

export const COST_KIND_NAMES: Record<CostKind, string> = {
  research: "Deep research",
  plan: "Plan",
  followup: "Follow-up",
  table: "Table",
  search: "Search",
  round: "Round of a deep search",
  correction: "Correction of an answer",
  judge: "Judged citations",
};
