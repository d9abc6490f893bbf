/** Search backend over Gemini's API: one streamed call with Google Search, and the sources that Google reports. */

import type { GenerateContentConfig, GoogleGenAI } from "@google/genai";
import type { AppError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import { type Answer, type AskRequest, type Backend, PaidFailure, requiredOutputTokens } from "../search-backend.ts";
import { apiFailure, cancelled, isUnreadable, httpStatusOf, timedOut } from "../failures.ts";
import { cutBy, failureOfEnding, incompleteAnswer, StreamedResponse } from "./response.ts";
import { createGoogleClient, type GoogleClientOptions, missingKey } from "../transport/google-client.ts";
import { withTimeLimit } from "../transport/guarded-fetch.ts";

interface ApiBackendOptions extends GoogleClientOptions {
  defaultModel: string;
  timeoutMs: number;
  progressLogIntervalMs: number;
  log: Log;
}

const SEARCH_TOOLS: GenerateContentConfig = { tools: [{ googleSearch: {} }, { urlContext: {} }] };

const ACTIVITIES: Record<AskRequest["purpose"], string> = {
  research: "Gemini is searching and reading",
  correction: "Gemini is rewriting the answer",
};

/** Sets no sampling parameters: newer models ignore them or reject the request. */
function outputLimit(model: string): GenerateContentConfig {
  const maxOutputTokens = requiredOutputTokens(model);
  return maxOutputTokens === undefined ? {} : { maxOutputTokens };
}

export function createApiBackend(options: ApiBackendOptions): Backend {
  let client: Promise<GoogleGenAI> | undefined;
  const obstacle = (): AppError | undefined =>
    options.apiKey === undefined && !options.vertex ? missingKey("search") : undefined;
  return {
    name: "api",
    obstacle,
    ask: async (request) => {
      const missing = obstacle();
      if (missing !== undefined) throw missing;
      const ready = (client ??= createGoogleClient(options));
      const model = request.model ?? options.defaultModel;
      return withTimeout(options, request, async (signal, received) => {
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
        request.onActivity(ACTIVITIES[request.purpose]);
        for await (const chunk of stream) {
          received.add(chunk);
          request.onText?.(received.text);
        }
        const failure = failureOfEnding(received);
        if (failure !== undefined) throw failure;
        return answerOf(received, model);
      });
    },
  };
}

async function withTimeout(
  options: ApiBackendOptions,
  request: AskRequest,
  work: (signal: AbortSignal, received: StreamedResponse) => Promise<Answer>,
): Promise<Answer> {
  if (request.signal.aborted) throw cancelled();
  const received = new StreamedResponse();
  const model = request.model ?? options.defaultModel;
  const startedAt = Date.now();
  const log = request.log ?? options.log;
  const ticker = setInterval(() => {
    log.info(`Gemini API call has been running for ${Math.round((Date.now() - startedAt) / 1_000)} s`);
  }, options.progressLogIntervalMs);
  let limited: AbortSignal | undefined;
  try {
    return await withTimeLimit(options.timeoutMs, request.signal, (signal) => work((limited = signal), received));
  } catch (error) {
    const failure = (): AppError => {
      if (request.signal.aborted) return cancelled();
      if (limited?.aborted === true) return timedOut(options.timeoutMs, received.text);
      return failureOf(error, received, { model, log });
    };
    const thrown = failure();
    if (!received.hasBegun) throw thrown;
    const answer = answerOf(received, model);
    // An answer that was cut off is charged for more than its last chunk counted.
    const isCut = thrown !== error;
    throw new PaidFailure(thrown, isCut ? { ...answer, usage: { ...answer.usage, isIncomplete: true } } : answer);
  } finally {
    if (received.hasBadUsage) log.warn("Google reported implausible token counts; they are counted as 0.");
    clearInterval(ticker);
  }
}

function failureOf(
  error: unknown,
  received: StreamedResponse,
  { model, log }: { model: string; log: Pick<Log, "debug"> },
): AppError {
  const failure = apiFailure(error, { model, purpose: "search", partialText: received.text, log });
  if (failure === error) return failure;
  // Once Google has begun to answer, unreadable data means a broken stream, not another server's page.
  const isBroken = received.hasBegun && httpStatusOf(error) === undefined && isUnreadable(error);
  return isBroken ? incompleteAnswer(received.text, error) : failure;
}

function answerOf(received: StreamedResponse, requestedModel: string): Answer {
  const { text, sources, unreadUrls, openedUrls, queries, searchSuggestions, supports } = received;
  return {
    backend: "api",
    text,
    cut: cutBy(received),
    model: received.model ?? requestedModel,
    sources,
    unreadUrls,
    openedUrls,
    queries,
    isGrounded: sources.length + unreadUrls.length + queries.length > 0,
    searchSuggestions,
    supports,
    usage: { ...received.usage, searches: queries.length, isIncomplete: received.hasBadUsage || !received.hasUsage },
    notices: [],
  };
}
