/** The names of the tools, in the order of the catalogue. `npm run reference` writes this file. */

export const TOOL_NAMES = [
  "search",
  "deep_search",
  "estimate_research_cost",
  "start_deep_research",
  "check_research_status",
  "get_research_results",
  "verify_citations",
  "ask_followup",
  "save_research_to_markdown",
  "cancel_research",
  "resume_research",
  "list_research",
  "compare_reports",
  "read_page",
  "schedule_research",
  "deep_research",
] as const;
