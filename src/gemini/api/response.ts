/** Collects a streamed generateContent response: text, sources, queries, Search Suggestions, usage and finish reason. */

import type { GroundedSegment, Usage, VisitedSource } from "../search-backend.ts";
import { readModelName, readTokenCount } from "../token-count.ts";
import { type ResponseCandidate, responseChunk } from "./chunk.ts";

const MAX_QUERIES = 1_000;
const MAX_SOURCES = 10_000;
const MAX_SUPPORTS = 10_000;
/** Google sends one of about 5 KB per answer. */
const MAX_SUGGESTIONS = 20;
const MAX_SUGGESTION_CHARACTERS = 100_000;

export class StreamedResponse {
  text = "";
  /** A chunk of Google's has arrived, so a later failure means a broken stream. */
  hasBegun = false;
  finishReason: string | undefined;
  blockReason: string | undefined;
  model: string | undefined;
  usage: Omit<Usage, "searches"> = { input: 0, output: 0, cached: 0 };
  /** Google sent counts, at least that of the prompt, which is never 0. */
  hasUsage = false;
  /** Google sent implausible counts; they are 0 in `usage`. */
  hasBadUsage = false;
  readonly sources: VisitedSource[] = [];
  /** URLs that Google failed to read. */
  readonly unreadUrls: string[] = [];
  /** URLs whose pages Google retrieved for the model (`url_context`). */
  readonly openedUrls: string[] = [];
  readonly searchSuggestions: string[] = [];
  /** Segments of the text, each with the pages that Google names for it. */
  readonly supports: GroundedSegment[] = [];
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
    if (groundingMetadata !== undefined) this.#addGrounding(groundingMetadata);
    for (const { retrievedUrl, urlRetrievalStatus } of urlContextMetadata?.urlMetadata ?? []) {
      if (urlRetrievalStatus === "URL_RETRIEVAL_STATUS_SUCCESS") this.#addOpened(retrievedUrl);
      else if (this.unreadUrls.length < MAX_SOURCES) this.unreadUrls.push(retrievedUrl);
    }
  }

  #addGrounding(metadata: NonNullable<ResponseCandidate["groundingMetadata"]>): void {
    for (const chunk of metadata.groundingChunks) {
      if (chunk !== undefined) this.#addSource(chunk.web.uri, chunk.web.title ?? "");
    }
    this.#addSupports(metadata);
    for (const query of metadata.webSearchQueries) {
      if (query.trim() !== "" && this.#queries.size < MAX_QUERIES) this.#queries.add(query);
    }
    this.#addSuggestions(metadata.searchEntryPoint?.renderedContent);
  }

  #addOpened(url: string): void {
    this.#addSource(url, "");
    if (this.openedUrls.length < MAX_SOURCES) this.openedUrls.push(url);
  }

  /** A support names its pages by their position in the chunks of the same message. */
  #addSupports({ groundingChunks, groundingSupports }: NonNullable<ResponseCandidate["groundingMetadata"]>): void {
    for (const { segment, groundingChunkIndices } of groundingSupports) {
      const urls = groundingChunkIndices.flatMap((index) => groundingChunks[index]?.web.uri ?? []);
      if (urls.length > 0 && this.supports.length < MAX_SUPPORTS) this.supports.push({ text: segment.text, urls });
    }
  }

  #addSource(url: string, title: string): void {
    if (this.sources.length < MAX_SOURCES && /^https?:\/\//i.test(url)) this.sources.push({ url, title });
  }

  /** Skips repetitions in later chunks, and HTML longer than anything that Google sends. */
  #addSuggestions(html: string | undefined): void {
    if (html === undefined || html.trim() === "" || html.length > MAX_SUGGESTION_CHARACTERS) return;
    if (this.searchSuggestions.includes(html) || this.searchSuggestions.length >= MAX_SUGGESTIONS) return;
    this.searchSuggestions.push(html);
  }

  /** Each chunk contains the counts so far, so the last chunk counts. */
  #setUsage(counts: Record<string, unknown>): void {
    this.hasUsage = counts["promptTokenCount"] !== undefined;
    const count = (name: string): number => {
      const value = readTokenCount(counts[name]);
      this.hasBadUsage ||= value === undefined;
      return value ?? 0;
    };
    this.usage = {
      input: count("promptTokenCount") + count("toolUsePromptTokenCount"),
      output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
      cached: count("cachedContentTokenCount"),
    };
  }
}
