/** Route of the Decisions API: probabilities from the overlap of words between a question and the input, always the same. */

import { z } from "zod";
import { errorReply, type GoogleError, isErrorName } from "../google-errors.ts";
import type { Call, Route, SimulatorContext } from "../route.ts";
import { openLedgerEntry, refusalFor, refuse, serve } from "../served-call.ts";
import type { Step } from "../scenario.ts";

const MODEL = "gemini-decision-1";
const MAX_QUESTIONS = 1_000;
const MAX_TOKENS = 262_144;
const CHARACTERS_PER_TOKEN = 4;
const PRICE_PER_TOKEN_USD = 0.1 / 1_000_000;

const text = z.object({ type: z.literal("text"), text: z.string() });
const question = z.strictObject({
  type: z.literal("noul"),
  instructions: z.string().min(1),
  criteria: z
    .strictObject({ true_description: z.string().optional(), false_description: z.string().optional() })
    .optional(),
});

const decisionRequest = z.strictObject({
  model: z.string(),
  input: z.array(text).min(1),
  questions: z.record(z.string().regex(/^[\w-]{1,64}$/), question).refine((questions) => {
    const count = Object.keys(questions).length;
    return count >= 1 && count <= MAX_QUESTIONS;
  }),
});

type DecisionRequest = z.output<typeof decisionRequest>;

const inputOf = ({ input }: DecisionRequest): string => input.map((part) => part.text).join("\n");

/** The input is charged once, however many questions are asked about it. */
const tokensOf = (request: DecisionRequest): number =>
  Math.ceil((inputOf(request).length + JSON.stringify(request.questions).length) / CHARACTERS_PER_TOKEN);

const wordsOf = (sentence: string): string[] => sentence.toLowerCase().match(/[\p{L}\p{N}]{3,}|\p{N}+/gu) ?? [];

/** What a question is about stands in its last paragraph. */
const statementIn = ({ instructions }: z.output<typeof question>): string => instructions.split(/\n{2,}/).at(-1) ?? "";

/** The share of the words that the best sentence of the input has, between 0.01 and 0.99. */
function probabilityOf(statement: string, sentences: readonly Set<string>[]): number {
  const wanted = wordsOf(statement);
  const shared = sentences.map((words) => wanted.filter((word) => words.has(word)).length);
  const share = Math.max(0, ...shared) / Math.max(1, wanted.length);
  return Math.min(0.99, Math.max(0.01, Math.round(share * 100) / 100));
}

function answersTo(request: DecisionRequest, { answer }: Step): Record<string, unknown> {
  const sentences = inputOf(request)
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => new Set(wordsOf(sentence)));
  const answers = Object.entries(request.questions).map(([id, asked]) => {
    const noul = probabilityOf(statementIn(asked), sentences);
    return [id, { type: "noul", noul, confidence: Math.round(Math.abs(2 * noul - 1) * 100) / 100 }] as const;
  });
  // A truncated answer lacks its last question.
  return Object.fromEntries(answer === "truncated" ? answers.slice(0, -1) : answers);
}

function documentFor(request: DecisionRequest, step: Step): string {
  if (step.text !== undefined) return step.text;
  const tokens = tokensOf(request);
  const usage = {
    total_input_tokens: tokens,
    total_output_tokens: 0,
    total_tokens: tokens,
    input_tokens_by_modality: [{ modality: "text", tokens }],
  };
  const document =
    step.block === undefined
      ? { answers: answersTo(request, step) }
      : { prompt_feedback: { block_reason: step.block } };
  return JSON.stringify({ ...document, ...(step.usage === "none" ? {} : { usage: { ...usage, ...step.usage } }) });
}

function parseBody({ body }: Call): DecisionRequest | undefined {
  try {
    return decisionRequest.parse(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

const TOO_LONG: GoogleError = {
  code: 400,
  message: "The input token count exceeds the maximum number of tokens allowed (262144).",
  status: "INVALID_ARGUMENT",
};

async function decide(call: Call, context: SimulatorContext): Promise<void> {
  const entry = openLedgerEntry(call, context, { model: MODEL, kind: "decide", turn: "opening" });
  const refusal = refusalFor(call, context);
  if (refusal !== undefined) return refuse(call, entry, refusal);
  const request = parseBody(call);
  if (request === undefined) return refuse(call, entry, "http-400");
  entry.question = Object.values(request.questions).map(statementIn).join("\n");
  if (request.model !== MODEL) return refuse(call, entry, "http-404");
  if (tokensOf(request) > MAX_TOKENS)
    return serve(call, entry, { reply: errorReply(TOO_LONG), fault: undefined, latencyMs: 0 });
  const { step } = context.player().open("decide", undefined);
  entry.served = step.fault ?? step.answer;
  // Google charges for an answer, whether it arrives or not, and not for an error.
  const isCharged = step.fault === undefined || !isErrorName(step.fault);
  entry.costUsd = isCharged ? tokensOf(request) * PRICE_PER_TOKEN_USD : 0;
  const headers = { "content-type": "application/json; charset=UTF-8" };
  const reply = { status: 200, headers, frames: [documentFor(request, step)] };
  const latencyMs = step.latency_ms ?? context.player().scenario.latency_ms;
  return serve(call, entry, { reply, fault: step.fault, latencyMs });
}

export const DECISION_ROUTES: readonly Route[] = [{ method: "POST", path: /\/v1beta\/decisions$/, handle: decide }];
