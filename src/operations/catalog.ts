/**
 * The operations of this product, in the order in which clients see them. Operations import what they run on lazily,
 * because every start of the server waits for this list.
 */

import { askFollowup } from "./followup/ask-followup.ts";
import { cancelResearch } from "./cancel-research.ts";
import { checkResearchStatus } from "./check-research-status.ts";
import { compareReports } from "./compare-reports.ts";
import { deepResearch } from "./deep-research.ts";
import { deepSearchOperation } from "./deep-search.ts";
import { estimateResearchCost } from "./estimate-research-cost.ts";
import { getResearchResults } from "./get-research-results.ts";
import { listResearch } from "./list-research.ts";
import type { Operation } from "./operation.ts";
import { readPage } from "./read-page.ts";
import { resumeResearch } from "./resume-research.ts";
import { saveResearchToMarkdown } from "./save-research-to-markdown.ts";
import { scheduleResearch } from "./schedules/schedule-research.ts";
import { search } from "./search.ts";
import { startDeepResearch } from "./start-deep-research.ts";
import { verifyCitations } from "./citations/verify-citations.ts";

/** By tool name, with the types of each. */
export const CATALOG = {
  search,
  deep_search: deepSearchOperation,
  estimate_research_cost: estimateResearchCost,
  start_deep_research: startDeepResearch,
  check_research_status: checkResearchStatus,
  get_research_results: getResearchResults,
  verify_citations: verifyCitations,
  ask_followup: askFollowup,
  save_research_to_markdown: saveResearchToMarkdown,
  cancel_research: cancelResearch,
  resume_research: resumeResearch,
  list_research: listResearch,
  compare_reports: compareReports,
  read_page: readPage,
  schedule_research: scheduleResearch,
  deep_research: deepResearch,
};

export const OPERATIONS: readonly Operation[] = Object.values(CATALOG);
