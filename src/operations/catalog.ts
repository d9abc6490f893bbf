/** Everything this product can do, in the order clients see it. */

import { deepResearch } from "./deep-research.ts";
import { deepSearchOperation } from "./deep-search.ts";
import { getResearchResults } from "./get-research-results.ts";
import { listResearch } from "./list-research.ts";
import type { Operation } from "./operation.ts";
import { search } from "./search.ts";

export const OPERATIONS: readonly Operation[] = [
  search,
  deepSearchOperation,
  deepResearch,
  getResearchResults,
  listResearch,
];
