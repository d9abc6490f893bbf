/** Gemini's API as a search backend: one streamed call with Google Search; sources from what Google says it used. */

import type { Candidate, GenerateContentConfig, GenerateContentResponse, GoogleGenAI } from "@google/genai";
import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { Answer, AskRequest, Backend, Usage, VisitedSource } from "./ask.ts";
import { apiFailure, cancelled, timedOut } from "./failures.ts";
import { createGoogleClient, type GoogleClientOptions, missingKey } from "./google-client.ts";

export interface ApiBackendOptions extends GoogleClientOptions {
  defaultModel: string;
  timeoutMs: number;
  progressLogIntervalMs: number;
  log: Log;
}

const SEARCH_TOOLS: GenerateContentConfig = { tools: [{ googleSearch: {} }, { urlContext: {} }] };

export function createApiBackend(options: ApiBackendOptions): Backend {
  let client: Promise<GoogleGenAI> | undefined;
  return {
    name: "api",
    ask: async (request) => {
      if (options.apiKey === undefined && !options.vertex) throw missingKey("search");
      const ready = (client ??= createGoogleClient(options));
      const model = request.model ?? options.defaultModel;
      return withinTime(options, request, async (signal, received) => {
        const stream = await (
          await ready
        ).models.generateContentStream({
          model,
          contents: request.prompt,
          config: { abortSignal: signal, ...(request.purpose === "research" ? SEARCH_TOOLS : {}) },
        });
        request.onActivity(
          request.purpose === "research" ? "Gemini is searching and reading" : "Gemini is rewriting the answer",
        );
        for await (const chunk of stream) received.add(chunk);
        return received.answer(model);
      });
    },
  };
}

async function withinTime(
  options: ApiBackendOptions,
  request: AskRequest,
  work: (signal: AbortSignal, received: Received) => Promise<Answer>,
): Promise<Answer> {
  if (request.signal.aborted) throw cancelled();
  const received = new Received();
  // Not AbortSignal.timeout: the SDK takes that one for a fault worth repeating.
  const controller = new AbortController();
  const started = Date.now();
  const log = request.log ?? options.log;
  const timer = setTimeout(() => controller.abort(), options.timeoutMs);
  const ticker = setInterval(() => {
    log.info(`Gemini API call has been running for ${Math.round((Date.now() - started) / 1_000)} s`);
  }, options.progressLogIntervalMs);
  const forward = (): void => controller.abort();
  request.signal.addEventListener("abort", forward, { once: true });
  try {
    return await work(controller.signal, received);
  } catch (error) {
    if (request.signal.aborted) throw cancelled();
    if (controller.signal.aborted) throw timedOut(options.timeoutMs, received.text);
    throw apiFailure(error, {
      model: request.model ?? options.defaultModel,
      partialText: received.text,
      log,
    });
  } finally {
    clearTimeout(timer);
    clearInterval(ticker);
    request.signal.removeEventListener("abort", forward);
  }
}

/** Collects a streamed response; what came before a broken connection is still there to be kept. */
class Received {
  text = "";
  #sources: VisitedSource[] = [];
  #queries: string[] = [];
  #finishReason: string | undefined;
  #model: string | undefined;
  #usage: Usage = { input: 0, output: 0, cached: 0, searches: 0 };
  #blocked = false;

  add(chunk: GenerateContentResponse): void {
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) {
      if (part.thought !== true) this.text += part.text ?? "";
    }
    if (candidate !== undefined) this.#addGrounding(candidate);
    this.#finishReason = candidate?.finishReason ?? this.#finishReason;
    this.#model = chunk.modelVersion ?? this.#model;
    if (chunk.promptFeedback?.blockReason !== undefined) this.#blocked = true;
    const usage = chunk.usageMetadata;
    if (usage === undefined) return;
    this.#usage = {
      input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
      output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
      cached: usage.cachedContentTokenCount ?? 0,
      searches: this.#queries.length,
    };
  }

  #addGrounding(candidate: Candidate): void {
    for (const { web } of candidate.groundingMetadata?.groundingChunks ?? []) {
      if (web?.uri !== undefined) this.#sources.push({ url: web.uri, title: web.title ?? "" });
    }
    for (const { retrievedUrl } of candidate.urlContextMetadata?.urlMetadata ?? []) {
      if (retrievedUrl !== undefined) this.#sources.push({ url: retrievedUrl, title: "" });
    }
    this.#queries.push(...(candidate.groundingMetadata?.webSearchQueries ?? []));
  }

  answer(asked: string): Answer {
    if (this.text.trim() === "") throw this.#blocked ? blocked() : noText();
    const queries = [...new Set(this.#queries)];
    return {
      backend: "api",
      text: this.text,
      cut: this.#finishReason !== undefined && this.#finishReason !== "STOP",
      model: this.#model ?? asked,
      sources: this.#sources,
      queries,
      usage: { ...this.#usage, searches: queries.length },
      notices: [],
    };
  }
}

function noText(): AppError {
  return new AppError({
    code: "EXECUTION_ERROR",
    message: "Gemini answered without any text.",
    reason: "no_answer",
    retryable: true,
  });
}

function blocked(): AppError {
  return new AppError({
    code: "EXECUTION_ERROR",
    message: "Gemini refused this question because of its content rules.",
    suggestion: "Rephrase the question.",
    reason: "input",
  });
}
