/** Asks the judge about the pairs that the comparison of texts does not confirm, as `VERIFY_JUDGE=gemini` does. */

import { JUDGE_MODEL } from "../../src/costs/prices.ts";
import { bestPassages, indexPage } from "../../src/claims/page-index.ts";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import type { Environment } from "../../src/config/environment.ts";
import { costCalculator } from "../../src/costs/actual.ts";
import { LIST_PRICES } from "../../src/costs/prices.ts";
import { createApiBackend } from "../../src/gemini/api/backend.ts";
import type { PageText } from "../../src/pages/page.ts";
import { createLog } from "../../src/platform/log.ts";
import { createPrompts } from "../../src/search/prompts.ts";
import { MAX_PASSAGES } from "../../src/verification/judge/judge-port.ts";
import { estimateUsd, JUDGE_EXAMPLE, judgeClaim, maxOutputTokens } from "../../src/verification/judge/judge.ts";

const PROMPTS = join(import.meta.dirname, "../../prompts");

export interface BenchJudge {
  model: string;
  /** Undefined if the price of the model is unknown. */
  estimateUsd: (requests: number) => number | undefined;
  /** The verdict; undefined if the answer cannot be used, as the product then keeps the comparison's. */
  verdictOf: (claim: string, page: PageText) => Promise<string | undefined>;
}

/** Undefined without a key. */
export function createBenchJudge(environment: Environment): BenchJudge | undefined {
  const { settings, vertex } = loadConfig({ environment });
  const key = settings.GEMINI_API_KEY;
  if (key === undefined && !vertex) return undefined;
  const redact = (text: string): string => (key === undefined ? text : text.replaceAll(key, "GEMINI_API_KEY"));
  const log = createLog({ from: "ERROR", format: "text", redact });
  const model = JUDGE_MODEL;
  const prompts = createPrompts({ packaged: PROMPTS, own: undefined, now: Date.now, log });
  const backend = createApiBackend({
    apiKey: key,
    vertex,
    baseUrl: settings.GOOGLE_GEMINI_BASE_URL,
    defaultModel: model,
    timeoutMs: settings.GEMINI_SEARCH_TIMEOUT,
    progressLogIntervalMs: settings.PROGRESS_LOG_INTERVAL,
    log,
  });
  const ask = async (values: { claim: string; passages: string }): Promise<string> => {
    const prompt = prompts.render("judge-prompt", { ...values, example: JUDGE_EXAMPLE });
    const { signal } = new AbortController();
    const limits = { signal, maxOutputTokens: maxOutputTokens(model) };
    return (await backend.ask({ prompt, purpose: "judgement", model, onActivity: () => {}, ...limits })).text;
  };
  return {
    model,
    estimateUsd: (requests) => estimateUsd(requests, { model, costOf: costCalculator(LIST_PRICES), now: Date.now() }),
    verdictOf: async (text, page) => {
      const claim = {
        n: 1,
        text,
        headings: [],
        context: [],
        start: 0,
        end: text.length,
        sources: [1],
        googleSources: [],
      };
      const passages = bestPassages(claim, indexPage(page), MAX_PASSAGES);
      return (await judgeClaim(ask, { ...claim, passages }, page))?.verdict;
    },
  };
}
