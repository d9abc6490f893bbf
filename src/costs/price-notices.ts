/** Announces that a price which is used changes soon, or that the table is old. */

import { AGENTS } from "../gemini/research-agent.ts";
import { formatPrice } from "./dollars.ts";
import {
  agentPrice,
  DAY_MS,
  dayOf,
  daysBetween,
  DEFAULT_API_MODEL,
  FOLLOWUP_MODEL,
  JUDGE_MODEL,
  modelPrice,
  type PriceTable,
} from "./prices.ts";

/** The models that the settings name or leave to us, and the agents. */
export const configuredModels = (settings: {
  GEMINI_MODEL?: string | undefined;
  GEMINI_CORRECTION_MODEL?: string | undefined;
}): string[] => [
  settings.GEMINI_MODEL ?? DEFAULT_API_MODEL,
  settings.GEMINI_CORRECTION_MODEL ?? DEFAULT_API_MODEL,
  FOLLOWUP_MODEL,
  JUDGE_MODEL,
  ...AGENTS,
];

const NOTICE_DAYS = 14;
/** Google has changed a price or added a model about every six weeks. */
const OLD_AFTER_DAYS = 120;

export interface PriceNotice {
  message: string;
  /** The table has all prices that are known to follow. */
  isKnown: boolean;
}

/** Which of the prices that are used change soon, and whether the table is old. */
export function priceNotices(prices: PriceTable, { models, now }: { models: readonly string[]; now: number }) {
  const age = daysBetween(prices.asOf, dayOf(now));
  const isOld = age > OLD_AFTER_DAYS;
  const message = `The price table is ${age} days old (${prices.asOf}); Google's prices may have changed.`;
  return [
    ...[...new Set(models)].flatMap((model) => changeOf(prices, { model, now })),
    ...(isOld ? [{ message, isKnown: false }] : []),
  ];
}

function changeOf(prices: PriceTable, { model, now }: { model: string; now: number }): PriceNotice[] {
  const at = (time: number) => agentPrice(prices, model, time) ?? modelPrice(prices, model, time);
  const price = at(now);
  if (price?.until === undefined || daysBetween(dayOf(now), price.until) > NOTICE_DAYS) return [];
  const dayAfter = Date.parse(price.until) + DAY_MS;
  const next = at(dayAfter);
  const message =
    next === undefined
      ? `The price of ${model} ends on ${price.until}; later runs are priced by its family and marked as estimated.`
      : `From ${dayOf(dayAfter)} ${model} costs ${formatPrice(next.input)} in and ${formatPrice(next.output)} out per million tokens; now ${formatPrice(price.input)} and ${formatPrice(price.output)}.`;
  return [{ message, isKnown: next !== undefined }];
}
