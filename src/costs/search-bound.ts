/** The most that one call of a search is expected to use, which the ledger reserves before it is sent. */

import type { Usage } from "../gemini/search-backend.ts";

const CHARACTERS_PER_TOKEN = 4;

/**
 * Derived: recorded searches read up to 60,000 tokens of pages, made up to eight queries and wrote up to 8,000 tokens,
 * thoughts included. A correction reads its prompt only.
 */
const RESEARCH = { pages: 80_000, output: 16_000, searches: 10 };

export function maxUsageOf({ purpose, prompt }: { purpose: "research" | "correction"; prompt: string }): Usage {
  const input = Math.ceil(prompt.length / CHARACTERS_PER_TOKEN);
  if (purpose === "correction") return { input, output: Math.max(2_000, 2 * input), cached: 0, searches: 0 };
  return { input: input + RESEARCH.pages, output: RESEARCH.output, cached: 0, searches: RESEARCH.searches };
}
