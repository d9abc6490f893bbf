/**
 * Counts the tokens of a model's context that an answer needs, with a real tokenizer (o200k, of GPT-4o and later
 * models).
 */

import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { ScenarioInput } from "../../../simulator/scenario.ts";
import { type Ending, openScene } from "./scene.ts";

export interface AnswerTokens {
  tool: string;
  /** Shown to the model by Claude Code and Codex. */
  structured: number;
  /** Shown to the model by Gemini CLI and OpenCode. */
  text: number;
}

/** The maximum for a typical answer, in the larger of the two forms (U4). */
export const TOKEN_BUDGET: Record<string, number> = { search: 450, deep_search: 2_500 };

/** The maximum where many sources have redirect links only, which take 65 to 75 tokens each; those of cited pages are listed. */
export const REDIRECT_LINKS_BUDGET: Record<string, number> = { search: 500, deep_search: 2_800 };

const QUERY = "How do heat pumps perform in cold climates?";
const verify = [{ answer: "unverified" as const }, { answer: "verified" as const }];

/** Three rounds each; sources with their own URLs, or with Google's redirect links, which cannot be shortened. */
export const ANSWERS = {
  "addresses of pages": { name: "pages", plain_urls: true, tasks: { verify } },
  "Google's redirect links": { name: "redirects", tasks: { verify } },
} satisfies Record<string, ScenarioInput>;

export async function measureAnswers(ending: Ending, scenario: ScenarioInput): Promise<AnswerTokens[]> {
  const server = await (await openScene(ending, scenario)).server();
  const measured: AnswerTokens[] = [];
  for (const tool of Object.keys(TOKEN_BUDGET)) {
    const { structured, text, isError } = await server.call(tool, { query: QUERY });
    if (isError) throw new Error(`${tool} failed: ${text}`);
    if (tool === "deep_search" && structured["metadata"].iterations !== 3)
      throw new Error("It did not take three rounds.");
    measured.push({ tool, structured: countTokens(JSON.stringify(structured)), text: countTokens(text) });
  }
  return measured;
}
