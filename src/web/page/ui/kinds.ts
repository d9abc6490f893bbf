/** Display names of the kinds of runs. */

import type { RunHead } from "../../../operations/view/run-view.ts";

export const KIND_NAMES: Record<RunHead["kind"] | "followup", string> = {
  search: "Search",
  deep_search: "Deep search",
  deep_research: "Quick report",
  agent: "Deep Research",
  followup: "Follow-up",
};

export const kindName = ({ kind, followup_context: context, is_table: isTable }: RunHead): string =>
  isTable === true ? "Table" : KIND_NAMES[context === undefined ? kind : "followup"];
