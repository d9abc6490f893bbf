/**
 * What the judge of citations (`VERIFY_JUDGE`) is worth, measured with a real key on labelled claims: how many of them are
 * called likely from which probability, and whether the probabilities mean what they say. It costs money: the cost is
 * stated first, and nothing is sent without `--yes`.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../src/config/config.ts";
import type { Environment } from "../../src/config/environment.ts";
import { costCalculator } from "../../src/costs/actual.ts";
import { JUDGE_MODEL, LIST_PRICES } from "../../src/costs/prices.ts";
import { createDecisions, type DecisionOutcome, type DecisionRequest } from "../../src/gemini/decisions.ts";
import { NO_USAGE } from "../../src/gemini/search-backend.ts";
import type { PageText } from "../../src/pages/page.ts";
import { judgeLimitUsd } from "../../src/operation-settings.ts";
import { LIKELY_FROM } from "../../src/verification/judge/judge.ts";
import { maxInputTokens, questionId, requestAbout } from "../../src/verification/judge/questions.ts";
import type { Table } from "../report.ts";
import { share } from "../wilson.ts";

export interface LabelledClaim {
  claim: string;
  page: PageText;
  isSaid: boolean;
}

const THRESHOLDS = [0.5, 0.6, 0.7, LIKELY_FROM, 0.9, 0.95];
const MAX_TRIES = 5;

/** Undefined if nothing was sent. */
export async function judgeBench(
  claims: readonly LabelledClaim[],
  { yes }: { yes?: boolean | undefined },
  environment: Environment,
): Promise<Table | undefined> {
  const config = loadConfig({ environment });
  const { GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: baseUrl } = config.settings;
  if (apiKey === undefined || judgeLimitUsd(config) === undefined) {
    console.error(
      "The judge needs a key of the Gemini API, and none is set. Set GEMINI_API_KEY, or leave out --judge.",
    );
    process.exitCode = 1;
    return undefined;
  }
  const requests = claims.map(({ claim, page }) => ({ request: requestAbout(page, [asClaim(claim)]) }));
  const bound = requests.reduce((sum, { request }) => sum + maxInputTokens(request), 0);
  // A token of English text has four bytes.
  const cost = `about $${usdOf(bound / 4).toFixed(4)}, at most $${usdOf(bound).toFixed(4)}, by list prices`;
  if (yes !== true) {
    console.log(
      `${claims.length} claims would be sent to ${JUDGE_MODEL}, for ${cost}. Nothing was sent: repeat with --yes.`,
    );
    return undefined;
  }
  console.log(`${claims.length} claims are sent to ${JUDGE_MODEL}, for ${cost}.`);
  const decide = createDecisions({ apiKey, baseUrl, environment, log: { debug: () => {} } });
  const judged: Judged[] = [];
  let inputTokens = 0;
  for (const [index, { request }] of requests.entries()) {
    const outcome = await decided(decide, request);
    const probability = outcome.kind === "answered" ? outcome.probabilities.get(questionId(asClaim(""))) : undefined;
    if (outcome.kind === "answered") inputTokens += outcome.inputTokens ?? 0;
    if (outcome.kind === "refused" && outcome.isLasting) {
      console.error(outcome.why);
      process.exitCode = 1;
      break;
    }
    judged.push({ probability, isSaid: claims[index]?.isSaid === true });
  }
  return tableOf(judged, inputTokens);
}

const usdOf = (input: number): number =>
  costCalculator(LIST_PRICES)({ ...NO_USAGE, input: Math.ceil(input) }, JUDGE_MODEL, Date.now()).usd ?? 0;

const asClaim = (text: string) => ({
  n: 1,
  text,
  headings: [],
  context: [],
  start: 0,
  end: text.length,
  sources: [1],
  googleSources: [],
  passage: undefined,
});

type Decide = (request: DecisionRequest) => Promise<DecisionOutcome>;

/** Free keys have a limit per minute, for which a measurement waits. */
async function decided(decide: Decide, request: DecisionRequest): Promise<DecisionOutcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await decide(request);
    if (outcome.kind !== "refused" || outcome.retryAfterMs === undefined || tries === MAX_TRIES) return outcome;
    await sleep(outcome.retryAfterMs);
  }
}

interface Judged {
  /** Undefined without an answer. */
  probability: number | undefined;
  isSaid: boolean;
}

function tableOf(all: readonly Judged[], inputTokens: number): Table {
  const answered = all.flatMap(({ probability, isSaid }) =>
    probability === undefined ? [] : [{ probability, isSaid }],
  );
  const said = answered.filter(({ isSaid }) => isSaid);
  const notSaid = answered.filter(({ isSaid }) => !isSaid);
  const from = (threshold: number) => (pairs: readonly { probability: number }[]) =>
    share(pairs.filter(({ probability }) => probability >= threshold).length, pairs.length);
  const bins = [0, 0.2, 0.4, 0.6, 0.8].map((start) =>
    answered.filter(({ probability }) => probability >= start && (probability < start + 0.2 || start === 0.8)),
  );
  const likely = answered.filter(({ probability }) => probability >= LIKELY_FROM);
  const mean = (values: readonly number[]): string =>
    (values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)).toFixed(2);
  return {
    title: `Judge ${JUDGE_MODEL}, ${all.length} claims`,
    columns: ["likely from", "false accepts", "recall"],
    rows: THRESHOLDS.map((threshold) => [String(threshold), from(threshold)(notSaid), from(threshold)(said)]),
    notes: [
      "Shares with Wilson intervals of 95 %. False accepts: likely although the page does not say it. Recall: likely of those that it says.",
      `Calibration: ${bins.map((bin) => `${mean(bin.map(({ probability }) => probability))} said, ${mean(bin.map(({ isSaid }) => Number(isSaid)))} true (${bin.length})`).join("; ")}.`,
      `Passed: of the likely ones, at least the share of the threshold is true. ${all.length - answered.length} without an answer. ${inputTokens} input tokens, $${usdOf(inputTokens).toFixed(4)} by list prices.`,
    ],
    passed: likely.filter(({ isSaid }) => isSaid).length >= LIKELY_FROM * likely.length,
  };
}
