/** The part of the composition root for checks of citations: page reader, redirect resolver and judge. */

import { JUDGE_MODEL } from "./costs/prices.ts";
import { costCalculator } from "./costs/actual.ts";
import type { ResearchComposition } from "./compose-research.ts";
import type { OperationDeps } from "./operations/operation.ts";
import { systemClock } from "./platform/clock.ts";
import { createJudge, JUDGE_EXAMPLE } from "./verification/judge/judge.ts";
import type { VerifyDeps } from "./verification/verify.ts";
import type { Judge } from "./verification/judge/judge-port.ts";

type Parts = Pick<ResearchComposition, "config" | "log" | "shutdown" | "store" | "prices">;

export async function composeVerification(parts: Parts, search: OperationDeps["search"]): Promise<VerifyDeps> {
  const { log, shutdown, store } = parts;
  const { createPageReader } = await import("./pages/page-reader.ts");
  const { createRedirectResolver } = await import("./gemini/redirect-links.ts");
  const { db, processId } = await store();
  const resolver = createRedirectResolver();
  const reader = createPageReader({ resolver, clock: systemClock });
  shutdown.finally(() => reader.close());
  return {
    db,
    clock: systemClock,
    log,
    processId,
    readPage: reader.read,
    resolver,
    judge: parts.config.settings.VERIFY_JUDGE === "gemini" ? await createModelJudge(parts, search) : undefined,
  };
}

/** Also with the Gemini CLI as the backend of searches: the judge needs no tools, and an API call costs least. */
async function createModelJudge(
  { config, log, store, prices }: Parts,
  search: OperationDeps["search"],
): Promise<Judge> {
  const { createApiBackend } = await import("./gemini/api/backend.ts");
  const { observedBackend } = await import("./gemini/call-telemetry.ts");
  const { settings, vertex } = config;
  const model = JUDGE_MODEL;
  const backend = observedBackend(
    createApiBackend({
      apiKey: settings.GEMINI_API_KEY,
      vertex,
      baseUrl: settings.GOOGLE_GEMINI_BASE_URL,
      defaultModel: model,
      timeoutMs: settings.GEMINI_SEARCH_TIMEOUT,
      progressLogIntervalMs: settings.PROGRESS_LOG_INTERVAL,
      log,
    }),
  );
  const { prompts } = await search(log);
  return createJudge({
    db: (await store()).db,
    clock: systemClock,
    log,
    model,
    costOf: costCalculator(await prices()),
    promptFor: (values) => prompts.render("judge-prompt", { ...values, example: JUDGE_EXAMPLE }),
    send: (prompt, limits) => backend.ask({ prompt, purpose: "judgement", model, onActivity: () => {}, ...limits }),
  });
}

/** Checks the citations of finished runs until the process shuts down (`VERIFY_CITATIONS=auto`). */
export async function checkAutomatically(
  { log, shutdown }: Pick<Parts, "log" | "shutdown">,
  { verification }: Pick<OperationDeps, "verification">,
): Promise<void> {
  const { startAutomaticChecks } = await import("./verification/automatic-checks.ts");
  const withoutJudge = async (): Promise<VerifyDeps> => ({ ...(await verification()), judge: undefined });
  startAutomaticChecks({ verification: withoutJudge, log, leaving: shutdown.signal }, shutdown.during);
}
