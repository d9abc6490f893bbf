/** Detects that a run was started with another API key or base URL than the ones that are set. */

import { currentAttempt } from "../attempt-store.ts";
import { attemptWith } from "../interaction-store.ts";
import type { ResearchDeps } from "../deps.ts";
import type { Obstacle } from "./obstacle.ts";

/** The setting that must be restored to poll the run; undefined when none is missing. */
export async function missingSetting(
  deps: Pick<ResearchDeps, "db" | "agent">,
  run: { taskId: string; interactionId: string },
): Promise<Obstacle | undefined> {
  const attempt = (await attemptWith(deps.db, run.interactionId)) ?? (await currentAttempt(deps.db, run.taskId));
  const { key, baseUrl } = deps.agent.fingerprint;
  if (attempt === undefined) return undefined;
  const { base_url: address } = attempt;
  if (address !== baseUrl) {
    return { kind: "other_address", setting: address === null || address === "" ? undefined : new URL(address).origin };
  }
  if (attempt.key_fingerprint === (key ?? null)) return undefined;
  return { kind: "other_key", setting: attempt.key_fingerprint?.slice(0, 8) };
}
