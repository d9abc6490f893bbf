/** Reads the queries and URLs of the Gemini CLI's web tool calls. */

import { z } from "zod";

interface ToolUse {
  queries: string[];
  urls: string[];
}

const parameters = z.object({
  query: z.string().optional().catch(undefined),
  prompt: z.string().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
});

const MAX_ACTIVITY_CHARACTERS = 200;

export function isWebSearch(tool: string): boolean {
  return tool === "google_web_search";
}

/** Firecrawl's tools have names like `mcp_firecrawl_firecrawl_scrape`. */
export function isFirecrawl(tool: string): boolean {
  return tool.includes("firecrawl");
}

export function readToolUse(tool: string, args: unknown): ToolUse {
  const { query, prompt, url } = parameters.safeParse(args).data ?? {};
  if (!isWebSearch(tool) && tool !== "web_fetch" && !isFirecrawl(tool)) return { queries: [], urls: [] };
  const fetched = tool === "web_fetch" ? webUrls(`${prompt ?? ""} ${url ?? ""}`) : webUrls(url ?? "");
  return { queries: query === undefined || query.trim() === "" ? [] : [query.trim()], urls: fetched };
}

/** A short description for display; undefined for other tools. */
export function describeToolCall(tool: string, args: unknown): string | undefined {
  const { queries, urls } = readToolUse(tool, args);
  if (queries[0] !== undefined) return oneLine(`Searching: ${queries[0]}`);
  if (urls[0] !== undefined) return oneLine(`Reading: ${urls[0]}`);
  return undefined;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, MAX_ACTIVITY_CHARACTERS);

function webUrls(text: string): string[] {
  const words = text.split(/[\s"'<>]+/).filter((word) => /^https?:\/\//i.test(word));
  return [...new Set(words.map(withoutTrailingPunctuation).filter((word) => URL.canParse(word)))];
}

/** Not a regular expression, which would take quadratic time on punctuation inside the word. */
function withoutTrailingPunctuation(word: string): string {
  let end = word.length;
  while (".,;:!?".includes(word.charAt(end - 1)) && end > 0) end -= 1;
  return word.slice(0, end);
}
