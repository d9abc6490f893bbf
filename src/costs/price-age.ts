/** Notices about a price table: rows that end soon, and an old table. */

import { dayOf, daysBetween, type PriceTable } from "./prices.ts";

const NOTICE_DAYS = 14;
/** Google has changed a price or added a model about every six weeks. */
const OLD_AFTER_DAYS = 120;

export interface PriceNotice {
  message: string;
  /** The table has all prices that are known to follow. */
  isKnown: boolean;
}

export function priceNotices(prices: PriceTable, now: number): PriceNotice[] {
  const today = dayOf(now);
  const rows = [
    ...prices.models.map(({ model, ...row }) => ({ name: nameOf(model), ...row })),
    ...prices.agents.map(({ agent, ...row }) => ({ name: nameOf(agent), ...row })),
  ];
  const ending = rows.flatMap(({ name, until }) => {
    if (until === undefined || until < today || daysBetween(today, until) > NOTICE_DAYS) return [];
    const next = rows.find((row) => row.name === name && row.from !== undefined && row.from > until);
    const message =
      next === undefined
        ? `The price of ${name} ends on ${until}; later runs are priced by its family and marked as estimated.`
        : `The price of ${name} changes after ${until} to $${next.input} in and $${next.output} out per million tokens.`;
    return [{ message, isKnown: next !== undefined }];
  });
  const age = daysBetween(prices.asOf, today);
  return [
    ...ending,
    ...(age > OLD_AFTER_DAYS
      ? [
          {
            message: `The price table is ${age} days old (${prices.asOf}); Google's prices may have changed.`,
            isKnown: false,
          },
        ]
      : []),
  ];
}

const nameOf = (pattern: RegExp | string): string =>
  typeof pattern === "string"
    ? pattern
    : pattern.source
        .replaceAll(/\(\?:([^)|]+(?:\|[^)|]+)+)\)/g, (_group, names: string) => names.replaceAll("|", " and -"))
        .replaceAll(/\(\?[!:][^)]*\)\??/g, "")
        .replaceAll(/[\\^$]/g, "");
