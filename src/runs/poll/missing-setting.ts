/** Tells whether a run was started with another key or address than the ones that are set. */

import { currentAttempt } from "../attempt-store.ts";
import { attemptWith } from "../interaction-store.ts";
import type { ResearchDeps } from "../deps.ts";

/** What the run was started with and is not set now, in words; undefined when all is as it was. */
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
      : `Waiting: it was started at ${new URL(attempt.base_url).origin}; set GOOGLE_GEMINI_BASE_URL to that to collect it`;
  }
  if (attempt.key_fingerprint === (key ?? null)) return undefined;
  const mark = attempt.key_fingerprint?.slice(0, 8) ?? "none";
  return `Waiting: it was started with another API key (its SHA-256 begins with ${mark}); set GEMINI_API_KEY to that to collect it`;
}
