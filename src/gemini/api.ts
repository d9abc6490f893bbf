/** Gemini's API as a search backend: one streamed call with Google Search; sources from what Google says it used. */

import type { GenerateContentConfig, GoogleGenAI } from "@google/genai";
import { AppError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import type { Answer, AskRequest, Backend } from "./ask.ts";
import { apiFailure, cancelled, timedOut } from "./failures.ts";
import { StreamedResponse } from "./generate-content/response.ts";
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
        return answerOf(received, model);
      });
    },
  };
}

async function withinTime(
  options: ApiBackendOptions,
  request: AskRequest,
  work: (signal: AbortSignal, received: StreamedResponse) => Promise<Answer>,
): Promise<Answer> {
  if (request.signal.aborted) throw cancelled();
  const received = new StreamedResponse();
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

function answerOf(received: StreamedResponse, asked: string): Answer {
  if (received.text.trim() === "") throw received.blockReason === undefined ? noText() : blocked();
  const { text, finishReason, sources, unreadUrls, queries, searchSuggestions } = received;
  return {
    backend: "api",
    text,
    cut: finishReason !== undefined && finishReason !== "STOP",
    model: received.model ?? asked,
    sources,
    unreadUrls,
    queries,
    searchSuggestions,
    usage: { ...received.usage, searches: queries.length },
    notices: [],
  };
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
