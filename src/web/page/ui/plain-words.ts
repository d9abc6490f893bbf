/** Rewrites messages of the server that name MCP tools and parameters. Most advice is a button on the page. */

const NAMES =
  /(?<![\w-])(?:ask_followup|(?:cancel|list|resume)_research|check_research_status|deep_(?:research|search)|estimate_research_cost|get_research_results|save_research_to_markdown|start_deep_research|accept_possible_double_charge|delete_at_google|enable_notifications|file_search_stores|filename_prefix|(?:avoid|prefer)_domains|force_new|include_(?:metadata|sources)|interaction_id|max_iterations|max_wait_hours|mcp_servers|output_dir|plan_(?:edit|turn)|save_partial|task_id|verify_citations|wait_seconds)(?![\w-]|\.\w)/;
const EVERY_NAME = new RegExp(NAMES, "g");

const WORDS: Readonly<Record<string, string>> = {
  task_id: "run id",
  start_deep_research: "Deep Research",
  ask_followup: "a follow-up",
  verify_citations: "the check of the citations",
  check_research_status: "this page",
};

export const namesATool = (text: string): boolean => NAMES.test(text);

export const withoutNames = (text: string): string =>
  text.replace(EVERY_NAME, (name) => WORDS[name] ?? name.replaceAll("_", " "));

const withCapitals = (text: string): string => text.replaceAll(/(?:^|\. )\p{Ll}/gu, (start) => start.toUpperCase());

/** Leaves out the clauses that name a tool. If all of them do, the names are replaced by words. */
export function plainWords(text: string): string {
  if (!namesATool(text)) return text;
  const kept = text.split(/(?<=[.;])\s+/).filter((clause) => !namesATool(clause));
  if (kept.length === 0) return withoutNames(text);
  return withCapitals(kept.join(" ").replace(/;$/, "."));
}

/** Advice that only names tools is left out altogether. */
export function plainAdvice(text: string | undefined): string | undefined {
  if (text === undefined || text.split(/(?<=[.;])\s+/).every(namesATool)) return undefined;
  return plainWords(text);
}
