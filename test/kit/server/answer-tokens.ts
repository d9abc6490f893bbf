/** How many tokens of a model's context an answer takes, by a real tokenizer (o200k, of the GPT-4o and later models). */

import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { ScenarioInput } from "../../../simulator/scenario.ts";
import { type Ending, openScene } from "./scene.ts";

export interface AnswerTokens {
  tool: string;
  /** Claude Code and Codex show their model this. */
  structured: number;
  /** Gemini CLI and OpenCode show their model this. */
  text: number;
}

/** U4: the most a typical answer may take, in whichever form takes more. */
export const TOKEN_BUDGET: Record<string, number> = { search: 450, deep_search: 2_500 };

/** With redirect links, each of which takes 65 to 75 tokens and is passed on as it is: above the target, and no more than this. */
export const REDIRECT_LINKS_BUDGET: Record<string, number> = { search: 630, deep_search: 4_150 };

const QUERY = "How do heat pumps perform in cold climates?";
const verify = [{ answer: "unverified" as const }, { answer: "verified" as const }];

/** Three rounds; pages by their own addresses, or by Google's redirect links, which nobody can shorten. */
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
