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

type Message = Pick<AppErrorOptions, "message" | "suggestion">;

const REPHRASE = "Rephrase the question, or ask about a narrower aspect.";
const MODEL_ARMOR_HELP =
  "Ask the owner of the Google Cloud project to adjust its Model Armor template, or rephrase the question.";

/** Not retried: the same question would be filtered again. */
const REFUSED_ANSWERS: Record<string, Message> = {
  SAFETY: { message: "Google's safety filter stopped the answer.", suggestion: REPHRASE },
  IMAGE_SAFETY: { message: "Google's safety filter stopped the answer.", suggestion: REPHRASE },
  PROHIBITED_CONTENT: {
    message: "Google stopped the answer because its rules prohibit such content.",
    suggestion: REPHRASE,
  },
  BLOCKLIST: { message: "Google stopped the answer because of a forbidden term.", suggestion: REPHRASE },
  SPII: { message: "Google stopped the answer because of sensitive personal data.", suggestion: REPHRASE },
  RECITATION: {
    message: "Google stopped the answer because it repeated a source word for word.",
    suggestion: "Ask for a summary instead of quotations.",
  },
  LANGUAGE: {
    message: "The model does not support the language of this question.",
    suggestion: "Ask in another language, or set GEMINI_MODEL to another model.",
  },
  MODEL_ARMOR: { message: "Model Armor stopped the answer.", suggestion: MODEL_ARMOR_HELP },
};

const REFUSED_PROMPTS: Record<string, Message> = {
  SAFETY: { message: "Google's safety filter refused the question.", suggestion: REPHRASE },
  PROHIBITED_CONTENT: {
    message: "Google refused the question because its rules prohibit such content.",
    suggestion: REPHRASE,
  },
  BLOCKLIST: { message: "Google refused the question because of a forbidden term.", suggestion: REPHRASE },
  MODEL_ARMOR: { message: "Model Armor refused the question.", suggestion: MODEL_ARMOR_HELP },
  JAILBREAK: {
    message: "Google refused the question as an attempt to evade its rules.",
    suggestion: REPHRASE,
  },
};

const REFUSED_PROMPT: Message = {
  message: "Google refused this question because of its content rules.",
  suggestion: REPHRASE,
};

const ASK_AGAIN = "Ask again, or set GEMINI_MODEL to another model.";

/** Retried: these depend on chance. */
const EMPTY_ANSWERS: Record<string, Message> = {
  STOP: { message: "Gemini answered without any text.", suggestion: ASK_AGAIN },
  MALFORMED_FUNCTION_CALL: { message: "Gemini ended its answer with a malformed tool call.", suggestion: ASK_AGAIN },
  UNEXPECTED_TOOL_CALL: {
    message: "Gemini ended its answer with a call to an unknown tool.",
    suggestion: ASK_AGAIN,
  },
  TOO_MANY_TOOL_CALLS: {
    message: "Gemini called its search tools too often and was stopped.",
    suggestion: "Ask a narrower question.",
  },
};

const UNKNOWN_REASON: Message = {
  message: "Google ended the answer without text and without a reason.",
  suggestion: "Rephrase the question, or set GEMINI_MODEL to another model.",
};

const INCOMPLETE: Message = {
  message: "The answer ended before it was complete.",
  suggestion: "Try again; check the network and the proxy if it happens often.",
};

const ONLY_THOUGHTS: Message = {
  message: "Gemini spent all its output tokens on thinking and wrote no answer.",
  suggestion: "Ask a narrower question, or set GEMINI_MODEL to another model.",
};

/** Undefined if there is an answer, complete or truncated. */
export function failureOfEnding({ text, finishReason, blockReason }: Ending): AppError | undefined {
  const refused = REFUSED_ANSWERS[finishReason ?? ""];
  const details = text.trim() === "" ? undefined : { partial_text: text };
  if (refused !== undefined) return failure({ ...refused, reason: "input", details });
  if (details !== undefined) return undefined;
  if (blockReason !== undefined) {
    return failure({ ...(REFUSED_PROMPTS[blockReason] ?? REFUSED_PROMPT), reason: "input" });
  }
  if (finishReason === "MAX_TOKENS") return failure({ ...ONLY_THOUGHTS, reason: "cut", retryable: true });
  if (finishReason === undefined) return incompleteAnswer("");
  return failure({ ...(EMPTY_ANSWERS[finishReason] ?? UNKNOWN_REASON), reason: "no_answer", retryable: true });
}

/** For a stream that ended early. Its text is kept. */
export const incompleteAnswer = (text: string, cause?: unknown): AppError =>
  failure({
    ...INCOMPLETE,
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
