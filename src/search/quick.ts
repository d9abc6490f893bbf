/** Single-round searches: `search`, and the older `deep_research`, which differs only in its prompt. */

import { executeResearchWithCorrection, type Research, type SearchCall, type SearchDeps } from "./correct-json.ts";
import { fillInLegacyPrompt } from "./prompts.ts";
import { SEARCH_SCHEMA } from "./schemas.ts";
import type { Wishes } from "./wishes.ts";

interface Question {
  query: string;
  wishes: Wishes | undefined;
}

export function quickSearch(deps: SearchDeps, { query, wishes }: Question, call: SearchCall): Promise<Research> {
  const prompt = deps.prompts.render("search-prompt", { query, example: SEARCH_SCHEMA.example }, wishes);
  return executeResearchWithCorrection(deps, { prompt, echo: prompt, schema: SEARCH_SCHEMA }, call);
}

interface ReportRequest {
  topic: string;
  depth: "concise" | "detailed";
  /** GEMINI_SYSTEM_PROMPT, if set. */
  ownPrompt: string | undefined;
}

export function researchReport(deps: SearchDeps, request: ReportRequest, call: SearchCall): Promise<Research> {
  const { topic, depth, ownPrompt } = request;
  const { example } = SEARCH_SCHEMA;
  const prompt =
    ownPrompt === undefined
      ? deps.prompts.render("research-prompt", { query: topic, depth, example })
      : fillInLegacyPrompt(ownPrompt, { topic, depth, model: deps.model ?? "auto" }, example);
  return executeResearchWithCorrection(deps, { prompt, echo: prompt, schema: SEARCH_SCHEMA }, call);
}
