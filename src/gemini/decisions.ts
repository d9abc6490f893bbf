/** Client of Gemini's Decisions API: yes-or-no questions about one text, each answered with a probability. */

import { z } from "zod";
import type { FailureReason } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { apiFailure, refusalOf } from "./failures.ts";
import { retryAfterMs } from "./paid-start/paid-request.ts";
import { type HttpResponse, NotSent, type SendOnce, sendOnce, type SingleRequest } from "./paid-start/send-once.ts";
import { parseJson } from "../platform/parse-json.ts";
import { readTokenCount } from "./search-backend.ts";
import { API_VERSION } from "./transport/google-client.ts";

export interface DecisionRequest {
  model: string;
  /** The text that all questions are about. */
  input: string;
  /** By id: 1 to 64 of `A-Z a-z 0-9 _ -`. */
  questions: ReadonlyMap<string, YesNoQuestion>;
}

export interface YesNoQuestion {
  instructions: string;
  whenTrue: string;
  whenFalse: string;
}

export type DecisionOutcome =
  /** Probabilities by id of the question; without those that are missing or malformed. */
  | { kind: "answered"; probabilities: Map<string, number>; isBlocked: boolean; inputTokens: number | undefined }
  /** Certainly not charged. `retryAfterMs`: the same request may succeed then. `isLasting`: for other requests, too. */
  | { kind: "refused"; why: string; isLasting: boolean; retryAfterMs: number | undefined }
  /** It may have been charged. */
  | { kind: "lost"; why: string };

const GOOGLE = "https://generativelanguage.googleapis.com";
/** Google states 150 to 250 ms. */
const TIMEOUT_MS = 12_000;
const MAX_RESPONSE_BYTES = 1_024 * 1_024;
/** After a refusal that states no time. */
const RETRY_AFTER_MS = 1_000;

interface DecisionsOptions extends Pick<SingleRequest, "environment"> {
  apiKey: string;
  baseUrl: string | undefined;
  log: Pick<Log, "debug">;
  sendOnce?: SendOnce;
}

/** The SDK has no such method yet. Nothing is retried here, so that its caller counts every request. */
export function createDecisions(options: DecisionsOptions): (request: DecisionRequest) => Promise<DecisionOutcome> {
  const base = `${(options.baseUrl ?? GOOGLE).replace(/\/$/, "")}/`;
  const url = new URL(`${API_VERSION}/decisions`, base);
  const send = options.sendOnce ?? sendOnce;
  return async (request) => {
    try {
      const response = await send({
        url,
        method: "POST",
        headers: new Headers({ "content-type": "application/json", "x-goog-api-key": options.apiKey }),
        body: Buffer.from(JSON.stringify(wireOf(request))),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        environment: options.environment,
        checkBeforeSending: async () => undefined,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      });
      return outcomeOf(response, request, options);
    } catch (error) {
      if (!(error instanceof NotSent))
        return { kind: "lost", why: "The connection to Google broke, or took too long." };
      const { message } = apiFailure(error.cause, { ...refusedRequest(request), ...options, partialText: "" });
      return { kind: "refused", why: message, isLasting: false, retryAfterMs: undefined };
    }
  };
}

const refusedRequest = ({ model }: DecisionRequest) => ({ model, purpose: "judge" as const });

const wireOf = ({ model, input, questions }: DecisionRequest) => ({
  model,
  input: [{ type: "text", text: input }],
  questions: Object.fromEntries(
    [...questions].map(([id, { instructions, whenTrue, whenFalse }]) => [
      id,
      { type: "noul", instructions, criteria: { true_description: whenTrue, false_description: whenFalse } },
    ]),
  ),
});

function outcomeOf(response: HttpResponse, request: DecisionRequest, { log }: DecisionsOptions): DecisionOutcome {
  const { status, text, cut } = response;
  if (status >= 300) {
    log.debug(`Gemini Decisions API, HTTP ${status}: ${text.slice(0, 2_000)}`);
    return outcomeOfError(response, request);
  }
  const answer = cut === undefined ? answerSchema.safeParse(parseJson(text)).data : undefined;
  if (answer === undefined) return { kind: "lost", why: "Google's answer could not be read." };
  const probabilities = new Map(
    [...request.questions.keys()].flatMap((id) => {
      // Only what was asked for is read, so that no other name in the answer can matter.
      const given = Object.hasOwn(answer.answers, id) ? answer.answers[id] : undefined;
      const { data } = yesNoAnswer.safeParse(given);
      return data === undefined ? [] : [[id, data.noul] as const];
    }),
  );
  const inputTokens = readTokenCount(answer.usage?.total_input_tokens) ?? 0;
  const isBlocked = typeof answer.prompt_feedback?.block_reason === "string";
  return { kind: "answered", probabilities, isBlocked, inputTokens: inputTokens > 0 ? inputTokens : undefined };
}

const yesNoAnswer = z.object({ type: z.literal("noul"), noul: z.number().min(0).max(1) });

/** An answer has answers, or says why it has none. */
const answerSchema = z
  .object({
    answers: z.record(z.string(), z.unknown()).nullish(),
    usage: z.object({ total_input_tokens: z.unknown() }).nullish(),
    prompt_feedback: z.object({ block_reason: z.unknown() }).nullish(),
  })
  .refine(({ answers, prompt_feedback: feedback }) => (answers ?? feedback ?? undefined) !== undefined)
  .transform(({ answers, ...rest }) => ({ ...rest, answers: answers ?? {} }));

/** Refusals that concern the key, its project or its location, or a model that is not offered there. */
const LASTING: ReadonlySet<FailureReason> = new Set(["auth", "config", "billing", "location", "credentials"]);
const MAY_PASS: ReadonlySet<FailureReason> = new Set(["rate_limit", "overloaded"]);

/** Google does not charge for requests that it answers with an error; a gateway may have passed one on before it failed. */
function outcomeOfError(response: HttpResponse, request: DecisionRequest): DecisionOutcome {
  const { status, text } = response;
  if (status < 400) return { kind: "lost", why: "Something other than Google answered." };
  const { message, reason } = refusalOf(status, text, refusedRequest(request));
  if (status >= 500 && !hasGooglesForm(text)) return { kind: "lost", why: message };
  return {
    kind: "refused",
    why: message,
    isLasting: LASTING.has(reason),
    retryAfterMs: MAY_PASS.has(reason) ? (retryAfterMs(response) ?? RETRY_AFTER_MS) : undefined,
  };
}

const googleError = z.object({ error: z.object({ code: z.number(), status: z.string() }) });

const hasGooglesForm = (text: string): boolean => googleError.safeParse(parseJson(text)).success;
