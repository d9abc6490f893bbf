/** The agent port over Google's Interactions API. The SDK's retries are off: a repeated start would be charged twice. */

import { createHash } from "node:crypto";
import type { GoogleGenAI } from "@google/genai";
import { AppError, type FailureReason } from "../../errors.ts";
import { startLimitMs } from "../../platform/failpoint.ts";
import { isRecord } from "../../platform/is-record.ts";
import type { Log } from "../../platform/log.ts";
import type { Agent, PollResult, StartOutcome, StartRequest, StreamRequest } from "../research-agent.ts";
import { apiFailure, notGoogle, httpStatusOf } from "../failures.ts";
import type { RefusedRequest } from "../refusals.ts";
import { createGoogleClient, type GoogleClientOptions, missingKey } from "../transport/google-client.ts";
import { MAX_RESPONSE_BYTES, ResponseTooLarge } from "../transport/bounded-fetch.ts";
import { guardedFetch, withTimeLimit } from "../transport/guarded-fetch.ts";
import { readEvent } from "./events.ts";
import { materialToSend } from "../material.ts";
import { inputWith, toolsWith } from "./material-body.ts";
import { tableFormat } from "../table-format.ts";
import { retryAfterMs } from "../paid-start/retry-after.ts";
import { divertPaidRequests, sendPaidRequest } from "../paid-start/paid-request.ts";
import { sendOnce, type SendOnce } from "../paid-start/send-once.ts";
import { readInteraction } from "./reader.ts";
import { type StreamFault, withFaultReporter, withStreamGuard } from "./stream-guard.ts";

interface InteractionsOptions extends GoogleClientOptions {
  log: Log;
  limits?: Limits | undefined;
  /** Holds the proxy variables for paid requests; all other requests use the process's environment. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
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
  connect: () => Promise<Interactions>;
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
  const guarded = withStreamGuard(guardedFetch(options.fetch ?? fetch, limits.responseBytes), limits.streamIdleMs);
  let created: Promise<Interactions> | undefined;
  return {
    hasCredentials: options.apiKey !== undefined || options.vertex,
    limits,
    log,
    connect: () =>
      (created ??= createGoogleClient({ ...options, fetch: divertPaidRequests(guarded) }).then(
        ({ interactions }) => interactions,
      )),
  };
}

async function startInteraction(
  { hasCredentials, limits, connect }: Connection,
  options: InteractionsOptions,
  request: StartRequest,
): Promise<StartOutcome> {
  if (!hasCredentials) return { kind: "refused", error: missingKey("research") };
  const interactions = await connect().catch(() => undefined);
  if (interactions === undefined) return { kind: "refused", error: badSetup() };
  const { agent, labels, omitsLabels, variant, checkBeforeSending } = request;
  const about: FailedRequest = {
    model: variant?.model ?? agent,
    purpose: variant?.model === undefined ? "agent" : "followup",
    hasLabels: omitsLabels !== true,
    log: labels["run"] === undefined ? options.log : options.log.forRun(labels["run"]),
  };
  return withTimeLimit(limits.startMs, request.signal, (signal) =>
    sendPaidRequest({
      signal,
      checkBeforeSending,
      environment: options.environment ?? {},
      maxResponseBytes: limits.responseBytes,
      limitMs: limits.startMs,
      sendOnce: options.sendOnce ?? sendOnce,
      create: () => create(interactions, request, signal),
      explain: (failure) =>
        "status" in failure
          ? failureOf(Object.assign(new Error(failure.text), { status: failure.status }), about)
          : failureOf(failure.cause, { ...about, host: failure.host }),
    }),
  );
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
  { hasCredentials, limits, log, connect }: Connection,
  request: StreamRequest,
): Promise<void> {
  if (!hasCredentials) return;
  try {
    const interactions = await connect();
    const faults: StreamFault[] = [];
    await withTimeLimit(limits.streamMs, request.signal, (signal) =>
      withFaultReporter(
        (fault) => faults.push(fault),
        () => readStream(interactions, { ...request, signal }),
      ),
    );
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

const create = (interactions: Interactions, request: StartRequest, signal: AbortSignal): Promise<unknown> =>
  interactions.create(bodyOf(request), { ...NO_RETRY, signal });

function bodyOf({ query, agent, labels, omitsLabels, variant = {}, files, mcpServers }: StartRequest) {
  const { model, previousInteractionId, input = query, collaborativePlanning, columns } = variant;
  const { visualization = "off" } = variant;
  const material = materialToSend(variant);
  const common = {
    input: inputWith(input, material, files),
    ...toolsWith(material, mcpServers),
    background: true,
    store: true,
    ...(omitsLabels === true ? {} : { labels }),
    ...(previousInteractionId === undefined ? {} : { previous_interaction_id: previousInteractionId }),
  };
  if (model !== undefined && columns !== undefined) {
    return {
      ...common,
      model,
      response_format: tableFormat(columns),
      generation_config: MODEL_OPTIONS.generation_config,
    };
  }
  if (model !== undefined) return { ...common, model, ...MODEL_OPTIONS };
  const agent_config = {
    type: "deep-research" as const,
    thinking_summaries: "auto" as const,
    visualization,
    ...(collaborativePlanning === undefined ? {} : { collaborative_planning: collaborativePlanning }),
  };
  return { ...common, agent, agent_config };
}

/** Google applies tools and configuration to one turn only, so a continued interaction needs them again. */
const MODEL_OPTIONS = {
  tools: [{ type: "google_search" as const }, { type: "url_context" as const }],
  generation_config: { thinking_summaries: "auto" as const },
};

const fingerprint = (key: string | undefined): string | undefined =>
  key === undefined ? undefined : createHash("sha256").update(key).digest("hex").slice(0, 16);

/** The SDK may wrap the error. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof ResponseTooLarge || (isRecord(error) && error["cause"] instanceof ResponseTooLarge);

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
