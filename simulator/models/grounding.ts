/** Grounding metadata of answers, and the search results that the Gemini CLI returns to the model. */

import type { ToolResult } from "./request.ts";
import type { Findings } from "./research.ts";
import { suggestionsFor } from "./search-suggestions.ts";
import { redirectLink, type Page } from "../web.ts";

export interface GroundingMetadata {
  webSearchQueries: string[];
  searchEntryPoint: { renderedContent: string };
  groundingChunks: { web?: { uri: string; title: string } }[];
  groundingSupports: {
    segment: { startIndex?: number; endIndex: number; text: string };
    groundingChunkIndices: number[];
  }[];
}

export interface UrlContextMetadata {
  urlMetadata: { retrievedUrl: string; urlRetrievalStatus: string }[];
}

type Support = GroundingMetadata["groundingSupports"][number];

function supportFor(text: string, page: Page, index: number): Support[] {
  const wordings = [page.snippet, JSON.stringify(page.snippet).slice(1, -1)];
  const wording = wordings.find((candidate) => text.includes(candidate));
  if (wording === undefined) return [];
  const startIndex = Buffer.byteLength(text.slice(0, text.indexOf(wording)));
  const endIndex = startIndex + Buffer.byteLength(wording);
  // Google's JSON omits zeros.
  const segment = { ...(startIndex > 0 && { startIndex }), endIndex, text: wording };
  return [{ segment, groundingChunkIndices: [index] }];
}

interface GroundingOptions {
  plainUrls: boolean;
}

export function groundingFor(
  text: string,
  { queries, pages }: Findings,
  { plainUrls }: GroundingOptions,
): GroundingMetadata {
  return {
    webSearchQueries: queries,
    searchEntryPoint: { renderedContent: suggestionsFor(queries) },
    groundingChunks: pages.map((page) => ({
      web: { uri: plainUrls ? page.url : redirectLink(page), title: page.domain },
    })),
    groundingSupports: pages.flatMap((page, index) => supportFor(text, page, index)),
  };
}

const status = (name: string, retrievedUrl: string): UrlContextMetadata["urlMetadata"][number] => ({
  retrievedUrl,
  urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${name}`,
});

export const retrieved = (urls: readonly string[]): UrlContextMetadata => ({
  urlMetadata: urls.map((url) => status("SUCCESS", url)),
});

/** Two pages are read; the next ones fail with different statuses. */
export function urlContextFor(urls: readonly string[]): UrlContextMetadata {
  const failures = ["ERROR", "PAYWALL", "UNSAFE"].flatMap((name, index) => {
    const url = urls[index + 2];
    return url === undefined ? [] : [status(name, url)];
  });
  const invented = status("ERROR", "https://unreachable.example/never-read");
  return { urlMetadata: [...retrieved(urls.slice(0, 2)).urlMetadata, ...failures, invented] };
}

/** The answer of a search tool's own model call: one line per page. */
export const searchSummary = (pages: readonly Page[]): string => pages.map((page) => `- ${page.snippet}`).join("\n");

function pagesIn(output: string): Page[] {
  const [summary = "", list = ""] = output.split("\n\nSources:\n");
  return [...list.matchAll(/^\[(\d+)\] (.*) \((\S+)\)$/gm)].map(([, n = "", title = "", url = ""]) => {
    const line = summary.split("\n").find((candidate) => candidate.includes(`[${n}]`)) ?? title;
    const snippet = line.replaceAll(/\[\d+\]/g, "").replace(/^- /, "");
    return { url, title, domain: title, snippet };
  });
}

/** The results of the CLI's searches; a report cites only these. */
export function findingsIn(results: readonly ToolResult[]): Findings {
  const searches = results.filter((result) => result.name === "google_web_search");
  const pages = new Map(searches.flatMap(({ output }) => pagesIn(output)).map((page) => [page.url, page]));
  const queries = searches.flatMap(({ output }) => /^Web search results for "([\s\S]*?)":\n/.exec(output)?.[1] ?? []);
  return { queries, pages: [...pages.values()] };
}
