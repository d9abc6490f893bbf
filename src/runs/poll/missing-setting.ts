/** Detects that a run was started with another API key or base URL than the ones that are set. */

import { currentAttempt } from "../attempt-store.ts";
import { attemptWith } from "../interaction-store.ts";
import type { ResearchDeps } from "../deps.ts";

/** Describes the setting that must be restored to poll the run; undefined when none is missing. */
export async function missingSetting(
  deps: Pick<ResearchDeps, "db" | "agent">,
  run: { taskId: string; interactionId: string },
): Promise<string | undefined> {
  const attempt = (await attemptWith(deps.db, run.interactionId)) ?? (await currentAttempt(deps.db, run.taskId));
  const { key, baseUrl } = deps.agent.fingerprint;
  if (attempt === undefined) return undefined;
  if (attempt.base_url !== baseUrl) {
    return attempt.base_url === null || attempt.base_url === ""
      ? "Waiting: it was started at Google's own address; unset GOOGLE_GEMINI_BASE_URL to collect it"
      : `Waiting: it was started at ${new URL(attempt.base_url).origin}; set GOOGLE_GEMINI_BASE_URL to that address to collect it`;
  }
  if (attempt.key_fingerprint === (key ?? null)) return undefined;
  const keyPrefix = attempt.key_fingerprint?.slice(0, 8) ?? "none";
  return `Waiting: it was started with another API key (its SHA-256 begins with ${keyPrefix}); set GEMINI_API_KEY to that key to collect it`;
}
