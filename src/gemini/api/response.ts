/**
 * A streamed generateContent response: text, sources, queries, Search Suggestions, usage, and why it ended. Each chunk is
 * checked, because the SDK's types are not at run time.
 */

import { z } from "zod";
import {
  type Cut,
  type GroundedSegment,
  readModelName,
  readTokenCount,
  type Usage,
  type VisitedSource,
} from "../search-backend.ts";
import { AppError, type AppErrorOptions } from "../../errors.ts";

const MAX_QUERIES = 1_000;
const MAX_SOURCES = 10_000;
const MAX_SUPPORTS = 10_000;

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

  /** Later chunks repeat it. */
  #addSuggestions(html = ""): void {
    if (html.trim() !== "" && !this.searchSuggestions.includes(html)) this.searchSuggestions.push(html);
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

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item.optional().catch(undefined))
    .catch([])
    .default([])
    .transform((items) => items.filter((value) => value !== undefined));

const anyText = z.string().optional().catch(undefined);

/** Parts without text are function calls, `toolCall` records of Google's own tools, or a bare `thoughtSignature`. */
const part = z.object({ text: anyText, thought: z.boolean().optional().catch(undefined) });

/** Without gaps the indices of `groundingSupports` would lead to other chunks, so unreadable ones stay as undefined. */
const groundingChunks = z
  .array(
    z
      .object({ web: z.object({ uri: z.string(), title: anyText }) })
      .optional()
      .catch(undefined),
  )
  .catch([])
  .default([]);

const groundingSupport = z.object({
  segment: z.object({ text: z.string() }),
  groundingChunkIndices: list(z.number().int().nonnegative()),
});

const groundingMetadata = z.object({
  webSearchQueries: list(z.string()),
  groundingChunks,
  groundingSupports: list(groundingSupport),
  searchEntryPoint: z.object({ renderedContent: anyText }).optional().catch(undefined),
});

const candidate = z.object({
  content: z
    .object({ parts: list(part) })
    .optional()
    .catch(undefined),
  finishReason: anyText,
  groundingMetadata: groundingMetadata.optional().catch(undefined),
  urlContextMetadata: z
    .object({ urlMetadata: list(z.object({ retrievedUrl: z.string(), urlRetrievalStatus: anyText })) })
    .optional()
    .catch(undefined),
});

const responseChunk = z.object({
  candidates: list(candidate),
  promptFeedback: z.object({ blockReason: anyText }).optional().catch(undefined),
  usageMetadata: z.record(z.string(), z.unknown()).optional().catch(undefined),
  modelVersion: z.unknown().optional(),
});

type ResponseCandidate = z.infer<typeof responseChunk>["candidates"][number];

interface Ending {
  text: string;
  finishReason: string | undefined;
  /** Set if Google refused the prompt itself. */
  blockReason: string | undefined;
}

const REPHRASE = "Rephrase the question, or ask about a narrower aspect.";
const ASK_AGAIN = "Ask again, or set GEMINI_MODEL to another model.";
const REPHRASE_OR_OTHER_MODEL = "Rephrase the question, or set GEMINI_MODEL to another model.";

/** Advice that suits one reason better than that of its kind. */
const ADVICE: Record<string, string> = {
  RECITATION: "Ask for a summary instead of quotations.",
  LANGUAGE: "Ask in another language, or set GEMINI_MODEL to another model.",
  MODEL_ARMOR:
    "Ask the owner of the Google Cloud project to adjust its Model Armor template, or rephrase the question.",
  TOO_MANY_TOOL_CALLS: "Ask a narrower question.",
};

/** Not retried: the same question would be filtered again. */
const REFUSED_ANSWERS: Record<string, string> = {
  SAFETY: "Google's safety filter stopped the answer.",
  IMAGE_SAFETY: "Google's safety filter stopped the answer.",
  PROHIBITED_CONTENT: "Google stopped the answer because its rules prohibit such content.",
  BLOCKLIST: "Google stopped the answer because of a forbidden term.",
  SPII: "Google stopped the answer because of sensitive personal data.",
  RECITATION: "Google stopped the answer because it repeated a source word for word.",
  LANGUAGE: "The model does not support the language of this question.",
  MODEL_ARMOR: "Model Armor stopped the answer.",
};

const REFUSED_PROMPTS: Record<string, string> = {
  SAFETY: "Google's safety filter refused the question.",
  PROHIBITED_CONTENT: "Google refused the question because its rules prohibit such content.",
  BLOCKLIST: "Google refused the question because of a forbidden term.",
  MODEL_ARMOR: "Model Armor refused the question.",
  JAILBREAK: "Google refused the question as an attempt to evade its rules.",
};

/** Retried: these depend on chance. */
const EMPTY_ANSWERS: Record<string, string> = {
  STOP: "Gemini answered without any text.",
  MALFORMED_FUNCTION_CALL: "Gemini ended its answer with a malformed tool call.",
  UNEXPECTED_TOOL_CALL: "Gemini ended its answer with a call to an unknown tool.",
  TOO_MANY_TOOL_CALLS: "Gemini called its search tools too often and was stopped.",
};

/** Undefined if there is an answer, complete or truncated. */
export function failureOfEnding({ text, finishReason, blockReason }: Ending): AppError | undefined {
  const refused = REFUSED_ANSWERS[finishReason ?? ""];
  const details = text.trim() === "" ? undefined : { partial_text: text };
  if (refused !== undefined) {
    return failure({ message: refused, suggestion: ADVICE[finishReason ?? ""] ?? REPHRASE, reason: "input", details });
  }
  if (details !== undefined) return undefined;
  if (blockReason !== undefined) {
    const message = REFUSED_PROMPTS[blockReason] ?? "Google refused this question because of its content rules.";
    return failure({ message, suggestion: ADVICE[blockReason] ?? REPHRASE, reason: "input" });
  }
  if (finishReason === undefined) return incompleteAnswer("");
  if (finishReason === "MAX_TOKENS") {
    return failure({
      message: "Gemini spent all its output tokens on thinking and wrote no answer.",
      suggestion: "Ask a narrower question, or set GEMINI_MODEL to another model.",
      reason: "cut",
      retryable: true,
    });
  }
  return failure({
    message: EMPTY_ANSWERS[finishReason] ?? "Google ended the answer without text and without a reason.",
    suggestion: ADVICE[finishReason] ?? (finishReason in EMPTY_ANSWERS ? ASK_AGAIN : REPHRASE_OR_OTHER_MODEL),
    reason: "no_answer",
    retryable: true,
  });
}

/** For a stream that ended early. Its text is kept. */
export const incompleteAnswer = (text: string, cause?: unknown): AppError =>
  failure({
    message: "The answer ended before it was complete.",
    suggestion: "Try again; check the network and the proxy if it happens often.",
    reason: "network",
    retryable: true,
    details: text.trim() === "" ? undefined : { partial_text: text },
    cause,
  });

const failure = (options: Omit<AppErrorOptions, "code">): AppError =>
  new AppError({ code: "EXECUTION_ERROR", ...options });

const CUT_BY: Record<string, Cut | false> = {
  STOP: false,
  MAX_TOKENS: "output_limit",
  TOO_MANY_TOOL_CALLS: "tool_calls",
  MALFORMED_FUNCTION_CALL: "malformed_call",
  UNEXPECTED_TOOL_CALL: "malformed_call",
};

/** Only STOP marks a complete answer; without a finish reason the stream broke. */
export const cutBy = ({ finishReason }: Pick<Ending, "finishReason">): Cut | false =>
  finishReason === undefined ? "lost" : (CUT_BY[finishReason] ?? "stopped");
