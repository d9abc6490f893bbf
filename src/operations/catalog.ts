/**
 * Everything this product can do, in the order clients see it. A definition loads what it runs on when it is first
 * run: a client waits for this list at every start.
 */

import { cancelResearch } from "./cancel-research.ts";
import { checkResearchStatus } from "./check-research-status.ts";
import { deepResearch } from "./deep-research.ts";
import { deepSearchOperation } from "./deep-search.ts";
import { estimateResearchCost } from "./estimate-research-cost.ts";
import { getResearchResults } from "./get-research-results.ts";
import { listResearch } from "./list-research.ts";
import type { Operation } from "./operation.ts";
import { resumeResearch } from "./resume-research.ts";
import { saveResearchToMarkdown } from "./save-research-to-markdown.ts";
import { search } from "./search.ts";
import { startDeepResearch } from "./start-deep-research.ts";

export const OPERATIONS: readonly Operation[] = [
  search,
  deepSearchOperation,
  estimateResearchCost,
  startDeepResearch,
  checkResearchStatus,
  getResearchResults,
  saveResearchToMarkdown,
  cancelResearch,
  resumeResearch,
  listResearch,
  deepResearch,
];
