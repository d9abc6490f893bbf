/** Collects a streamed generateContent response: text, sources, queries, Search Suggestions, usage, and how it ended. */

import type { Usage, VisitedSource } from "../search-backend.ts";
import { readModelName, readTokenCount } from "../token-count.ts";
import { type ResponseCandidate, responseChunk } from "./chunk.ts";

const MAX_QUERIES = 1_000;
const MAX_SOURCES = 10_000;
/** Google's are about 5 KB each, one for an answer. */
const MAX_SUGGESTIONS = 20;
const MAX_SUGGESTION_CHARACTERS = 100_000;

export class StreamedResponse {
  text = "";
  /** A chunk of Google's has arrived: what is missing afterwards broke off. */
  hasBegun = false;
  finishReason: string | undefined;
  blockReason: string | undefined;
  model: string | undefined;
  usage: Omit<Usage, "searches"> = { input: 0, output: 0, cached: 0 };
  /** Google sent counts that cannot be true; they are 0 here. */
  hasBadUsage = false;
  readonly sources: VisitedSource[] = [];
  /** Addresses that Google tried to read and did not get. */
  readonly unreadUrls: string[] = [];
  readonly searchSuggestions: string[] = [];
  readonly #queries = new Set<string>();

  get queries(): string[] {
    return [...this.#queries];
  }

  add(received: unknown): void {
    const chunk = responseChunk.safeParse(received).data;
    if (chunk === undefined) return;
    const [candidate] = chunk.candidates;
    this.hasBegun ||= candidate !== undefined || chunk.usageMetadata !== undefined;
    if (candidate !== undefined) this.#addCandidate(candidate);
    this.model = readModelName(chunk.modelVersion) ?? this.model;
    this.blockReason = chunk.promptFeedback?.blockReason ?? this.blockReason;
    if (chunk.usageMetadata !== undefined) this.#setUsage(chunk.usageMetadata);
  }

  #addCandidate({ content, finishReason, groundingMetadata, urlContextMetadata }: ResponseCandidate): void {
    for (const part of content?.parts ?? []) {
      if (part.thought !== true) this.text += part.text ?? "";
    }
    this.finishReason = finishReason ?? this.finishReason;
    for (const { web } of groundingMetadata?.groundingChunks ?? []) this.#addSource(web.uri, web.title ?? "");
    for (const { retrievedUrl, urlRetrievalStatus } of urlContextMetadata?.urlMetadata ?? []) {
      if (urlRetrievalStatus === "URL_RETRIEVAL_STATUS_SUCCESS") this.#addSource(retrievedUrl, "");
      else if (this.unreadUrls.length < MAX_SOURCES) this.unreadUrls.push(retrievedUrl);
    }
    for (const query of groundingMetadata?.webSearchQueries ?? []) {
      if (query.trim() !== "" && this.#queries.size < MAX_QUERIES) this.#queries.add(query);
    }
    this.#addSuggestions(groundingMetadata?.searchEntryPoint?.renderedContent);
  }

  #addSource(url: string, title: string): void {
    if (this.sources.length < MAX_SOURCES && /^https?:\/\//i.test(url)) this.sources.push({ url, title });
  }

  /** The last chunk repeats what an earlier one brought. Longer than any real one: not Google's, and not kept. */
  #addSuggestions(html: string | undefined): void {
    if (html === undefined || html.trim() === "" || html.length > MAX_SUGGESTION_CHARACTERS) return;
    if (this.searchSuggestions.includes(html) || this.searchSuggestions.length >= MAX_SUGGESTIONS) return;
    this.searchSuggestions.push(html);
  }

  /** Each chunk repeats the counts so far, so the last ones stand. */
  #setUsage(counts: Record<string, unknown>): void {
    const count = (name: string): number => {
      const read = readTokenCount(counts[name]);
      this.hasBadUsage ||= read === undefined;
      return read ?? 0;
    };
    this.usage = {
      input: count("promptTokenCount") + count("toolUsePromptTokenCount"),
      output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
      cached: count("cachedContentTokenCount"),
    };
  }
}
