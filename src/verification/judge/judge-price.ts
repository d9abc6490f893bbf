/** What requests to the judge cost: likely, and at most. */

import type { CostOf } from "../../costs/actual.ts";
import { requiredOutputTokens, NO_USAGE } from "../../gemini/search-backend.ts";
import type { JudgePrice } from "./judge-port.ts";
import { type JudgeValues, MAX_CLAIM_CHARACTERS, MAX_PASSAGES_CHARACTERS } from "./judge-claim.ts";

/** Derived: the prompt with five passages, and a short answer with some thinking. */
const LIKELY_TOKENS = { input: 1_400, output: 250 };

/** Thinking counts as output. Enough for the thoughts of a small model and an answer of 60 words. */
const MAX_OUTPUT_TOKENS = 8_192;

/** A model that needs more room for its thoughts gets it, and its price follows. */
export const maxOutputTokens = (model: string): number => requiredOutputTokens(model) ?? MAX_OUTPUT_TOKENS;

/** Begin and end of a turn and the like, which Google adds. */
const ADDED_TOKENS = 100;

/** Three bytes in UTF-8, the maximum per UTF-16 unit. */
const WIDEST_CHARACTER = "\u20AC";

/** A token stands for at least one byte, so no prompt has more tokens than bytes, whatever it is filled with. */
export function maxInputTokens(promptFor: (values: JudgeValues) => string): number {
  const longest = promptFor({
    claim: WIDEST_CHARACTER.repeat(MAX_CLAIM_CHARACTERS),
    passages: WIDEST_CHARACTER.repeat(MAX_PASSAGES_CHARACTERS),
  });
  return Buffer.byteLength(longest) + ADDED_TOKENS;
}

interface PricedModel {
  costOf: CostOf;
  model: string;
}

/** The likely price; undefined without a price of the model. */
export const estimateUsd = (requests: number, { now, ...priced }: PricedModel & { now: number }): number | undefined =>
  usdOf(LIKELY_TOKENS, priced, { requests, at: now });

/** Undefined without a listed price of the model. Prices change at midnight, so the higher one of a day counts. */
export function judgePrice(
  requests: number,
  { promptFor, ...priced }: PricedModel & { promptFor: (values: JudgeValues) => string },
  now: number,
): JudgePrice | undefined {
  const likelyUsd = estimateUsd(requests, { ...priced, now });
  const longest = { input: maxInputTokens(promptFor), output: maxOutputTokens(priced.model) };
  const [today, tomorrow] = [now, now + DAY_MS].map((at) => usdOf(longest, priced, { requests, at }));
  if (likelyUsd === undefined || today === undefined || tomorrow === undefined) return undefined;
  return { likelyUsd, maxUsd: Math.max(today, tomorrow) };
}

const DAY_MS = 86_400_000;

function usdOf(
  tokens: { input: number; output: number },
  { costOf, model }: PricedModel,
  { requests, at }: { requests: number; at: number },
): number | undefined {
  const { usd, incomplete, estimated } = costOf({ ...NO_USAGE, ...tokens }, model, at);
  // The price of the model's family is no bound.
  return incomplete || estimated || usd === undefined ? undefined : usd * requests;
}
