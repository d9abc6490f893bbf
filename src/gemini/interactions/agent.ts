/** Google's Interactions API behind the agent port. Retries are off: a start repeated is a start paid twice. */

import { createHash } from "node:crypto";
import type { GoogleGenAI } from "@google/genai";
import { AppError } from "../../errors.ts";
import { startLimitMs } from "../../platform/failpoint.ts";
import { isRecord } from "../../platform/is-record.ts";
import type { Log } from "../../platform/log.ts";
import type { Agent, Begun, BeginRequest, FollowRequest, Look } from "../research-agent.ts";
import { apiFailure, notGoogle, statusOf } from "../failures.ts";
import { createGoogleClient, type GoogleClientOptions, missingKey } from "../transport/google-client.ts";
import { AnswerTooLong, MOST_BYTES } from "../transport/bounded-fetch.ts";
import { guardedFetch, withLimit } from "../transport/guarded-fetch.ts";
import { readEvent } from "./events.ts";
import { retryAfterMs } from "../paid-start/answer-fields.ts";
import { exceptPaid, sendPaidRequest } from "../paid-start/paid-request.ts";
import { sendOnce, type SendOnce } from "../paid-start/send-once.ts";
import { readInteraction } from "./reader.ts";
import { reportingFaults, type StreamFault, withStreamGuard } from "./stream-guard.ts";

export interface InteractionsOptions extends GoogleClientOptions {
  log: Log;
  limits?: Limits | undefined;
  /** Where the proxies of paid requests are read; other requests go by the process's own environment. */
  environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Instead of a connection to Google. */
  sendOnce?: SendOnce | undefined;
}

/** A look may begin with a cancel: both together are shorter than the lease of a look, or its end would not count. */
export const LIMITS = {
  startMs: startLimitMs(120_000),
  lookMs: 45_000,
  cancelMs: 10_000,
  /** Google ends a stream after ten minutes. */
  streamMs: 20 * 60_000,
  /** Thought summaries come every 16 s on average. A resumed stream was seen to send two events and then nothing. */
  streamIdleMs: 60_000,
  /** Unpacked. The longest report is far below one of them. */
  answerBytes: MOST_BYTES,
};
type Limits = typeof LIMITS;

const NO_RETRY = { retries: { strategy: "none" as const } };

export function createInteractionsAgent(options: InteractionsOptions): Agent {
  const mayAsk = options.apiKey !== undefined || options.vertex;
  const limits = options.limits ?? LIMITS;
  const guarded = withStreamGuard(guardedFetch(options.fetch ?? fetch, limits.answerBytes), limits.streamIdleMs);
  let created: Promise<Interactions> | undefined;
  const connect = (): Promise<Interactions> =>
    (created ??= createGoogleClient({ ...options, fetch: exceptPaid(guarded) }).then(
      ({ interactions }) => interactions,
    ));
  const failureOf = (error: unknown, { agent = "the agent", log = options.log, host }: About = {}): AppError =>
    apiFailure(error, { model: agent, partialText: "", log, host });

  const begin = async (request: BeginRequest): Promise<Begun> => {
    if (!mayAsk) return { kind: "refused", error: missingKey("research") };
    const interactions = await connect().catch(() => undefined);
    if (interactions === undefined) return { kind: "refused", error: badSetup() };
    const { agent, labels, checkBeforeSending } = request;
    const log = labels["run"] === undefined ? options.log : options.log.forRun(labels["run"]);
    return withLimit(limits.startMs, request.signal, (signal) =>
      sendPaidRequest({
        signal,
        checkBeforeSending,
        environment: options.environment ?? {},
        maxAnswerBytes: limits.answerBytes,
        limitMs: limits.startMs,
        sendOnce: options.sendOnce ?? sendOnce,
        create: () => create(interactions, request, signal),
        explain: (failure) =>
          "status" in failure
            ? failureOf(Object.assign(new Error(failure.text), { status: failure.status }), { agent, log })
            : failureOf(failure.cause, { agent, log, host: failure.host }),
      }),
    );
  };

  const ask = async (
    { id, ms, signal }: { id: string; ms: number; signal: AbortSignal },
    request: (google: Interactions, limited: AbortSignal) => Promise<unknown>,
  ): Promise<Look> => {
    // As Google would say it, without asking: the SDK sends requests without a key all the same.
    if (!mayAsk) return { kind: "forbidden" };
    try {
      const google = await connect();
      const interaction = readInteraction(await withLimit(ms, signal, (limited) => request(google, limited)));
      // Another research's report is not this one's, whoever mixed them up.
      const isOurs = interaction?.id === id;
      return isOurs ? { kind: "found", interaction } : { kind: "unreachable", error: notGoogle() };
    } catch (error) {
      return classifyLook(error, failureOf(error));
    }
  };

  return {
    fingerprint: { key: fingerprint(options.apiKey), baseUrl: options.baseUrl ?? "" },
    begin,
    look: (id, signal) =>
      ask({ id, ms: limits.lookMs, signal }, (google, limited) =>
        google.get(id, undefined, { ...NO_RETRY, signal: limited }),
      ),
    cancel: (id, signal) =>
      ask({ id, ms: limits.cancelMs, signal }, (google, limited) =>
        google.cancel(id, undefined, { ...NO_RETRY, signal: limited }),
      ),
    delete: async (id, signal) => {
      if (!mayAsk) return { kind: "refused", error: missingKey("research") };
      try {
        const google = await connect();
        await withLimit(limits.cancelMs, signal, (limited) =>
          google.delete(id, undefined, { ...NO_RETRY, signal: limited }),
        );
        return { kind: "deleted" };
      } catch (error) {
        return statusOf(error) === 404 ? { kind: "missing" } : { kind: "refused", error: failureOf(error) };
      }
    },
    follow: async (request) => {
      if (!mayAsk) return;
      try {
        const google = await connect();
        const faults: StreamFault[] = [];
        await withLimit(limits.streamMs, request.signal, (signal) =>
          reportingFaults(
            (fault) => faults.push(fault),
            () => follow(google, { ...request, signal }),
          ),
        );
        for (const fault of faults) options.log.debug(`The progress stream ended: ${STREAM_FAULTS[fault]}`);
        if (faults.includes("error_body")) request.onEvent({ kind: "error", eventId: undefined });
      } catch (error) {
        options.log.debug(`The progress stream ended: ${error instanceof Error ? error.message : "unknown"}`);
      }
    },
  };
}

type Interactions = GoogleGenAI["interactions"];

/** What a failed request was about. */
interface About {
  agent?: string;
  log?: Log;
  host?: string | undefined;
}

const create = (interactions: Interactions, request: BeginRequest, signal: AbortSignal): Promise<unknown> =>
  interactions.create(
    {
      agent: request.agent,
      input: request.query,
      background: true,
      store: true,
      agent_config: { type: "deep-research", thinking_summaries: "auto", visualization: "off" },
      labels: request.labels,
    },
    { ...NO_RETRY, signal },
  );

const fingerprint = (key: string | undefined): string | undefined =>
  key === undefined ? undefined : createHash("sha256").update(key).digest("hex").slice(0, 16);

/** The SDK may have wrapped it. */
const isTooLong = (fault: unknown): boolean =>
  fault instanceof AnswerTooLong || (isRecord(fault) && fault["cause"] instanceof AnswerTooLong);

function classifyLook(cause: unknown, error: AppError): Look {
  const status = statusOf(cause);
  if (status === 404) return { kind: "missing" };
  if (status === 403 || status === 401 || error.reason === "auth") return { kind: "forbidden" };
  if (status === 429) return { kind: "rate_limited", retryAfterMs: retryAfter(cause) };
  if (isTooLong(cause)) return { kind: "too_long" };
  return status === 400 || status === 410 || status === 422 ? { kind: "rejected" } : { kind: "unreachable", error };
}

function retryAfter(error: unknown): number | undefined {
  if (!isRecord(error)) return undefined;
  // The message holds all of the body only where that has no message of its own.
  const { headers, message, body } = error;
  return retryAfterMs({
    headers: headers instanceof Headers ? headers : new Headers(),
    text: `${String(body)} ${String(message)}`,
  });
}

const STREAM_FAULTS: Record<StreamFault, string> = {
  idle: "nothing came for a minute.",
  error_body: "an error came in the place of an event.",
};

async function follow(interactions: Interactions, request: FollowRequest): Promise<void> {
  const { interactionId, lastEventId, signal, onEvent } = request;
  const resume = lastEventId === undefined ? {} : { last_event_id: lastEventId };
  const stream = await interactions.get(interactionId, { stream: true, ...resume }, { ...NO_RETRY, signal });
  for await (const event of stream) {
    for (const read of readEvent(event)) onEvent(read);
    if (signal.aborted) return;
  }
}

function badSetup(): AppError {
  return new AppError({
    code: "GEMINI_UNAVAILABLE",
    message: "Google's client cannot be set up with these settings.",
    suggestion:
      "For Vertex AI set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION; else unset GOOGLE_GENAI_USE_VERTEXAI.",
    reason: "config",
  });
}
