/** The web tools of the Gemini CLI: what a call of one of them searched for or read. */

import { z } from "zod";

export interface ToolUse {
  queries: string[];
  urls: string[];
}

const parameters = z.object({
  query: z.string().optional().catch(undefined),
  prompt: z.string().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
});

const LONGEST_ACTIVITY = 200;

export function isWebSearch(tool: string): boolean {
  return tool === "google_web_search";
}

/** Firecrawl's tools are called `mcp_firecrawl_firecrawl_scrape` and the like. */
export function isFirecrawl(tool: string): boolean {
  return tool.includes("firecrawl");
}

export function readToolUse(tool: string, args: unknown): ToolUse {
  const { query, prompt, url } = parameters.safeParse(args).data ?? {};
  if (!isWebSearch(tool) && tool !== "web_fetch" && !isFirecrawl(tool)) return { queries: [], urls: [] };
  const fetched = tool === "web_fetch" ? webAddresses(`${prompt ?? ""} ${url ?? ""}`) : webAddresses(url ?? "");
  return { queries: query === undefined || query.trim() === "" ? [] : [query.trim()], urls: fetched };
}

/** For people who wait; undefined for a tool that is not about the web. */
export function describeToolCall(tool: string, args: unknown): string | undefined {
  const { queries, urls } = readToolUse(tool, args);
  if (queries[0] !== undefined) return oneLine(`Searching: ${queries[0]}`);
  if (urls[0] !== undefined) return oneLine(`Reading: ${urls[0]}`);
  return undefined;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, LONGEST_ACTIVITY);

function webAddresses(text: string): string[] {
  const words = text.split(/[\s"'<>]+/).filter((word) => /^https?:\/\//i.test(word));
  return [...new Set(words.map(withoutFinalMarks).filter((word) => URL.canParse(word)))];
}

/** The end of a sentence is no part of an address. A pattern would take quadratic time on marks inside of one. */
function withoutFinalMarks(word: string): string {
  let end = word.length;
  while (".,;:!?".includes(word.charAt(end - 1)) && end > 0) end -= 1;
  return word.slice(0, end);
}
