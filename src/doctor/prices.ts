/** Checks whether the price list is up to date. */

import type { Config } from "../config/config.ts";
import { priceNotices } from "../costs/price-age.ts";
import { loadPrices, PRICE_FILE } from "../costs/price-file.ts";
import { createLog } from "../platform/log.ts";
import { type CheckResult, ok, warn } from "./check.ts";

const NAME = "prices";

export function checkPrices({ configDir }: Config, now: number): CheckResult[] {
  const faults: string[] = [];
  const log = createLog({ from: "WARN", format: "text", redact: (text) => text, write: (line) => faults.push(line) });
  const prices = loadPrices(configDir, log);
  const notices = [
    ...faults.map((line) => ({ message: line.replace(/^\[WARN\] /, "").trim(), isKnown: false })),
    ...priceNotices(prices, now),
  ];
  if (notices.length === 0) return [ok(NAME, `as of ${prices.asOf}`)];
  return notices.map(({ message, isKnown }) =>
    isKnown
      ? ok(NAME, message)
      : warn(
          NAME,
          message,
          `Update gemini-search-mcp, or put current prices into ${PRICE_FILE} in the config directory.`,
        ),
  );
}
