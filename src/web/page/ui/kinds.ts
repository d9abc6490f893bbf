/** Display names of the kinds of runs. */

import type { RunSummary } from "../../wire.ts";

export const KIND_NAMES: Record<RunSummary["kind"], string> = {
  search: "Search",
  deep_search: "Deep search",
  deep_research: "Quick report",
  agent: "Deep Research",
};
