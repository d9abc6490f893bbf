/** The agent port over Google's Interactions API. The SDK's retries are off: a repeated start would be charged twice. */

import type { GoogleGenAI } from "@google/genai";
import { AppError, type FailureReason } from "../../errors.ts";
import { startLimitMs } from "../../platform/failpoint.ts";
import { isRecord } from "../../platform/is-record.ts";
import type { Log } from "../../platform/log.ts";
import type { Agent, PollResult, StartOutcome, StartRequest, StreamRequest } from "../research-agent.ts";
import { apiFailure, httpStatusOf, notGoogle, type RefusedRequest } from "../failures.ts";
import { createGoogleClient, type GoogleClientOptions, missingKey } from "../transport/google-client.ts";
import {
  type Fetch,
  guardedFetch,
  MAX_RESPONSE_BYTES,
  ResponseTooLarge,
  withTimeLimit,
} from "../transport/guarded-fetch.ts";
import { fingerprint } from "../key-fingerprint.ts";
import { readEvent, readInteraction } from "./reader.ts";
import { bodyOf } from "./request-body.ts";
import { createPaidRequest, retryAfterMs } from "../paid-start/paid-request.ts";
import { sendOnce, type SendOnce } from "../paid-start/send-once.ts";
import { type StreamFault, withStreamGuard } from "./stream-guard.ts";

interface InteractionsOptions extends GoogleClientOptions {
  log: Log;
  limits?: Limits | undefined;
  /** Holds the proxy variables for paid requests; all other requests use the process's environment. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where Google announces the end of an interaction, if it can reach this server. */
  webhookUrl?: string | undefined;
  /** Replaces the function that sends paid requests; for tests. */
  sendOnce?: SendOnce | undefined;
}

/** A poll may be preceded by a cancel: both together must be shorter than the poll lease, or the result is discarded. */
export const LIMITS = {
  startMs: startLimitMs(120_000),
  pollMs: 45_000,
  cancelMs: 10_000,
  /** Google ends a stream after ten minutes. */
  streamMs: 20 * 60_000,
  /** Thought summaries arrive every 16 s on average. A resumed stream was seen to send two events and then nothing. */
  streamIdleMs: 60_000,
  /** After decompression. */
  responseBytes: MAX_RESPONSE_BYTES,
};
type Limits = typeof LIMITS;

const NO_RETRY = { retries: { strategy: "none" as const } };

type Interactions = GoogleGenAI["interactions"];

/** Google's client, created by the first request, and what every request needs besides. */
interface Connection {
  hasCredentials: boolean;
  limits: Limits;
  log: Log;
  /** The shared client, or one with a fetch of its own. */
  connect: (fetcher?: Fetch) => Promise<Interactions>;
  fetcher: Fetch;
}

export function createInteractionsAgent(options: InteractionsOptions): Agent {
  const connection = createConnection(options);
  const { limits } = connection;
  return {
    fingerprint: { key: fingerprint(options.apiKey), baseUrl: options.baseUrl ?? "" },
    start: (request) => startInteraction(connection, options, request),
    poll: (id, signal) =>
      requestInteraction(connection, { id, limitMs: limits.pollMs, signal }, (interactions, limited) =>
        interactions.get(id, undefined, { ...NO_RETRY, signal: limited }),
      ),
    cancel: (id, signal) =>
      requestInteraction(connection, { id, limitMs: limits.cancelMs, signal }, (interactions, limited) =>
        interactions.cancel(id, undefined, { ...NO_RETRY, signal: limited }),
      ),
    delete: (id, signal) => deleteInteraction(connection, id, signal),
    stream: (request) => streamInteraction(connection, request),
  };
}

function createConnection(options: InteractionsOptions): Connection {
  const { limits = LIMITS, log } = options;
  const fetcher = guardedFetch(options.fetch ?? fetch, limits.responseBytes);
  const create = (own: Fetch): Promise<Interactions> =>
    createGoogleClient({ ...options, fetch: own }).then(({ interactions }) => interactions);
  let created: Promise<Interactions> | undefined;
  return {
    hasCredentials: options.apiKey !== undefined || options.vertex,
    limits,
    log,
    fetcher,
    connect: (own) => (own === undefined ? (created ??= create(fetcher)) : create(own)),
  };
}

async function startInteraction(
  { hasCredentials, limits, connect }: Connection,
  options: InteractionsOptions,
  request: StartRequest,
): Promise<StartOutcome> {
  if (!hasCredentials) return { kind: "refused", error: missingKey("research") };
  const { agent, labels, omitsExtras, variant, checkBeforeSending } = request;
  const about: FailedRequest = {
    model: variant?.model ?? agent,
    purpose: variant?.model === undefined ? "agent" : "followup",
    hasExtras: omitsExtras !== true,
    log: labels["run"] === undefined ? options.log : options.log.forRun(labels["run"]),
  };
  return withTimeLimit(limits.startMs, request.signal, async (signal) => {
    const paid = createPaidRequest({
      signal,
      checkBeforeSending,
      environment: options.environment ?? {},
      maxResponseBytes: limits.responseBytes,
      limitMs: limits.startMs,
      sendOnce: options.sendOnce ?? sendOnce,
      explain: (failure) =>
        "status" in failure
          ? failureOf(Object.assign(new Error(failure.text), { status: failure.status }), about)
          : failureOf(failure.cause, { ...about, host: failure.host }),
    });
    const interactions = await connect(paid.fetch).catch(() => undefined);
    if (interactions === undefined) return { kind: "refused", error: badSetup() };
    return paid.outcomeOf(() => interactions.create(bodyOf(request, options.webhookUrl), { ...NO_RETRY, signal }));
  });
}

async function requestInteraction(
  { hasCredentials, log, connect }: Connection,
  { id, limitMs, signal }: { id: string; limitMs: number; signal: AbortSignal },
  request: (interactions: Interactions, limited: AbortSignal) => Promise<unknown>,
): Promise<PollResult> {
  // Without credentials the SDK would send the request anyway, and Google would refuse it.
  if (!hasCredentials) return { kind: "forbidden" };
  try {
    const interactions = await connect();
    const response = await withTimeLimit(limitMs, signal, (limited) => request(interactions, limited));
    const interaction = readInteraction(response);
    // A response with another id, from a broken proxy for example, must not become this run's report.
    const isRequested = interaction?.id === id;
    return isRequested ? { kind: "found", interaction } : { kind: "unreachable", error: notGoogle() };
  } catch (error) {
    return classifyFailure(error, failureOf(error, { log }));
  }
}

async function deleteInteraction(
  { hasCredentials, limits, log, connect }: Connection,
  id: string,
  signal: AbortSignal,
): ReturnType<Agent["delete"]> {
  if (!hasCredentials) return { kind: "refused", error: missingKey("research") };
  try {
    const interactions = await connect();
    await withTimeLimit(limits.cancelMs, signal, (limited) =>
      interactions.delete(id, undefined, { ...NO_RETRY, signal: limited }),
    );
    return { kind: "deleted" };
  } catch (error) {
    return httpStatusOf(error) === 404 ? { kind: "missing" } : { kind: "refused", error: failureOf(error, { log }) };
  }
}

async function streamInteraction(
  { hasCredentials, limits, log, connect, fetcher }: Connection,
  request: StreamRequest,
): Promise<void> {
  if (!hasCredentials) return;
  try {
    const faults: StreamFault[] = [];
    const guard = { idleMs: limits.streamIdleMs, report: (fault: StreamFault) => void faults.push(fault) };
    const interactions = await connect(withStreamGuard(fetcher, guard));
    await withTimeLimit(limits.streamMs, request.signal, (signal) => readStream(interactions, { ...request, signal }));
    for (const fault of faults) log.debug(`The progress stream ended: ${STREAM_FAULTS[fault]}`);
    if (faults.includes("error_body")) request.onEvent({ kind: "error", eventId: undefined });
  } catch (error) {
    log.debug(`The progress stream ended: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

interface FailedRequest extends Partial<RefusedRequest> {
  log: Log;
  host?: string | undefined;
}

const failureOf = (error: unknown, request: FailedRequest): AppError =>
  apiFailure(error, { model: "of the agent", purpose: "agent", partialText: "", ...request });

/** The SDK wraps the error. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof ResponseTooLarge || (isRecord(error) && isTooLarge(error["cause"]));

const REMEDIABLE = new Set<FailureReason | undefined>(["billing", "location", "credentials"]);

function classifyFailure(cause: unknown, error: AppError): PollResult {
  const status = httpStatusOf(cause);
  if (status === 404) return { kind: "missing" };
  if (error.reason === "auth") return { kind: "forbidden" };
  if (error.reason === "rate_limit") return { kind: "rate_limited", retryAfterMs: retryAfter(cause) };
  if (isTooLarge(cause)) return { kind: "too_long" };
  // These are not about the interaction: once the account or the network is in order, it can be read.
  if (REMEDIABLE.has(error.reason)) return { kind: "unreachable", error };
  return status === 400 || status === 410 || status === 422 ? { kind: "rejected" } : { kind: "unreachable", error };
}

function retryAfter(error: unknown): number | undefined {
  if (!isRecord(error)) return undefined;
  // The error's message contains the whole body only if the body has no message field.
  const { headers, message, body } = error;
  return retryAfterMs({
    headers: headers instanceof Headers ? headers : new Headers(),
    text: `${String(body)} ${String(message)}`,
  });
}

const STREAM_FAULTS: Record<StreamFault, string> = {
  idle: "no data for a minute.",
  error_body: "an error body arrived instead of an event.",
};

async function readStream(interactions: Interactions, request: StreamRequest): Promise<void> {
  const { interactionId, lastEventId, signal, onEvent } = request;
  const resume = lastEventId === undefined ? {} : { last_event_id: lastEventId };
  const stream = await interactions.get(interactionId, { stream: true, ...resume }, { ...NO_RETRY, signal });
  for await (const event of stream) {
    for (const parsed of readEvent(event)) onEvent(parsed);
    if (signal.aborted) return;
  }
}

function badSetup(): AppError {
  return new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "Google's client cannot be set up with these settings.",
    suggestion:
      "For Vertex AI, set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION; otherwise unset GOOGLE_GENAI_USE_VERTEXAI.",
    reason: "config",
  });
}
