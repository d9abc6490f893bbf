/** Gemini's API as a search backend: one streamed call with Google Search; sources from what Google says it used. */

import type { GenerateContentConfig, GoogleGenAI } from "@google/genai";
import type { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { type Answer, type AskRequest, type Backend, PaidFailure } from "../search-backend.ts";
import { apiFailure, cancelled, isUnreadable, statusOf, timedOut } from "../failures.ts";
import { brokeOff, failureOfEnding, isCut } from "./ending.ts";
import { knownRefusal } from "./refusal.ts";
import { StreamedResponse } from "./response.ts";
import { createGoogleClient, type GoogleClientOptions, missingKey } from "../transport/google-client.ts";

export interface ApiBackendOptions extends GoogleClientOptions {
  defaultModel: string;
  timeoutMs: number;
  progressLogIntervalMs: number;
  log: Log;
}

const SEARCH_TOOLS: GenerateContentConfig = { tools: [{ googleSearch: {} }, { urlContext: {} }] };

/** Argon's own maximum. Thinking counts as output: with less than 32,768 it may answer with nothing and charge for it. */
const ARGON_OUTPUT_TOKENS = 65_536;

/** No sampling parameters either: newer models ignore them or refuse the request. */
const outputLimit = (model: string): GenerateContentConfig =>
  model.includes("argon") ? { maxOutputTokens: ARGON_OUTPUT_TOKENS } : {};

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
          config: {
            abortSignal: signal,
            ...(request.purpose === "research" ? SEARCH_TOOLS : {}),
            ...outputLimit(model),
          },
        });
        request.onActivity(
          request.purpose === "research" ? "Gemini is searching and reading" : "Gemini is rewriting the answer",
        );
        for await (const chunk of stream) received.add(chunk);
        const failure = failureOfEnding(received);
        if (failure !== undefined) throw failure;
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
  const model = request.model ?? options.defaultModel;
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
    const failure = (): AppError => {
      if (request.signal.aborted) return cancelled();
      if (controller.signal.aborted) return timedOut(options.timeoutMs, received.text);
      return failureOf(error, received, { model, log });
    };
    const { input, output } = received.usage;
    throw input + output > 0 || received.hasBadUsage
      ? new PaidFailure(failure(), answerOf(received, model))
      : failure();
  } finally {
    if (received.hasBadUsage) log.warn("Google reported token counts that cannot be true; they are counted as 0.");
    clearTimeout(timer);
    clearInterval(ticker);
    request.signal.removeEventListener("abort", forward);
  }
}

function failureOf(
  error: unknown,
  received: StreamedResponse,
  { model, log }: { model: string; log: Pick<Log, "debug"> },
): AppError {
  const failure = apiFailure(error, { model, partialText: received.text, log });
  if (failure === error) return failure;
  // Google had begun to answer: what cannot be read then is the end of a stream, not a foreign page.
  const isBroken = received.hasBegun && statusOf(error) === undefined && isUnreadable(error);
  return knownRefusal(error, model) ?? (isBroken ? brokeOff(received.text, error) : failure);
}

function answerOf(received: StreamedResponse, asked: string): Answer {
  const { text, sources, unreadUrls, queries, searchSuggestions } = received;
  return {
    backend: "api",
    text,
    cut: isCut(received),
    model: received.model ?? asked,
    sources,
    unreadUrls,
    queries,
    searchSuggestions,
    usage: { ...received.usage, searches: queries.length, isIncomplete: received.hasBadUsage },
    notices: [],
  };
}
