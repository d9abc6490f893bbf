/** The part of the composition root for checks of citations: page reader, redirect resolver and judge. */

import { costCalculator } from "./costs/actual.ts";
import type { ResearchComposition } from "./compose-research.ts";
import type { OperationDeps } from "./operations/operation.ts";
import { budgetsOf, judgeLimitUsd } from "./operation-settings.ts";
import { systemClock } from "./platform/clock.ts";
import { createJudge, type JudgeDeps } from "./verification/judge/judge.ts";
import type { KeptReadings } from "./verification/kept-readings.ts";
import type { VerifyDeps } from "./verification/verify.ts";
import type { Judge } from "./verification/judge/judge-port.ts";

type Parts = Pick<ResearchComposition, "config" | "log" | "shutdown" | "store" | "prices">;

export async function composeVerification(parts: Parts): Promise<VerifyDeps & { keptReadings: KeptReadings }> {
  const { log, shutdown, store } = parts;
  const { createKeptReadings } = await import("./verification/kept-readings.ts");
  const { createPageReader } = await import("./pages/page-reader.ts");
  const { createRedirectResolver } = await import("./gemini/redirect-links.ts");
  const { db, processId } = await store();
  const resolver = createRedirectResolver();
  const reader = createPageReader({ clock: systemClock });
  shutdown.finally(() => reader.close());
  return {
    db,
    clock: systemClock,
    log,
    processId,
    readPage: reader.read,
    keptReadings: createKeptReadings(systemClock),
    resolver,
    judge: await createDecisionsJudge(parts, db),
  };
}

async function createDecisionsJudge({ config, log, prices }: Parts, db: JudgeDeps["db"]): Promise<Judge | undefined> {
  const { settings, environment } = config;
  const maxUsd = judgeLimitUsd(config);
  const { GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: baseUrl } = settings;
  if (maxUsd === undefined || apiKey === undefined) return undefined;
  const { createDecisions } = await import("./gemini/decisions.ts");
  const { fingerprint } = await import("./gemini/key-fingerprint.ts");
  return createJudge({
    db,
    clock: systemClock,
    log,
    costOf: costCalculator(await prices()),
    keyFingerprint: fingerprint(apiKey),
    decide: createDecisions({ apiKey, baseUrl, environment, log }),
    maxUsd,
    budgets: budgetsOf(config),
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
