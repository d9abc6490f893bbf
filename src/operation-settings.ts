/** The settings that operations read, from the configuration. */

import { type Budgets, parseBudget, parseBudgets } from "./costs/budget.ts";
import type { Config } from "./config/config.ts";
import { SETTINGS } from "./config/settings.ts";
import { fileAccess } from "./material/file-access.ts";
import { pageUrl } from "./http/host-guard.ts";
import type { OperationDeps } from "./operations/operation.ts";

export function operationSettings(config: Config): OperationDeps["settings"] {
  const { settings } = config;
  return {
    maxRounds: settings.DEEP_SEARCH_MAX_ITERATIONS,
    legacyPrompt: settings.GEMINI_SYSTEM_PROMPT,
    syncWindowMs: settings.RESEARCH_SYNC_WINDOW_MS,
    reportsDir: settings.RESEARCH_REPORTS_DIR,
    templatesDir: settings.GEMINI_SEARCH_TEMPLATES_DIR,
    searchModel: settings.GEMINI_MODEL,
    confirmAboveUsd: parseBudget(settings.RESEARCH_CONFIRM_ABOVE_USD).soft ?? 0,
    budgets: budgetsOf(config),
    judgeMaxUsd: judgeLimitUsd(config),
    publicUrl: settings.MCP_PUBLIC_URL ?? pageUrl(settings.MCP_SERVER_HOST, settings.MCP_SERVER_PORT),
    files: fileAccess(config),
    maxRps: maxRpsOf(config),
  };
}

/** What is not polled by the clock, such as a stream, counts against the limit, too, even where no polls are made. */
export const maxRpsOf = ({ settings: { RESEARCH_MAX_RPS: maxRps } }: Pick<Config, "settings">): number =>
  maxRps > 0 ? maxRps : SETTINGS.RESEARCH_MAX_RPS.default;

export const budgetsOf = ({ settings }: Pick<Config, "settings">): Budgets => parseBudgets(settings);

const DEFAULT_JUDGE_LIMIT_USD = 0.05;

/** What judging the citations of one report may cost; undefined without a judge, which needs a key of the Gemini API. */
export function judgeLimitUsd({ settings, vertex }: Config): number | undefined {
  const { GEMINI_API_KEY: key, VERIFY_JUDGE: judge } = settings;
  if (judge === "off" || judge === 0 || key === undefined || vertex) return undefined;
  return judge === "auto" ? DEFAULT_JUDGE_LIMIT_USD : judge;
}
