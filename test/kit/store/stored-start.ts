/** Stores paid starts in different states for tests. */

import type { Database } from "../../../src/store/database.ts";
import { type Admission, commitIntent, type Intent } from "../../../src/runs/start/start-store.ts";

export const NOW = 50_000_000;
export const INTENT: Intent = {
  owner: "local",
  query: "How deep\0 is the lake?",
  agent: "an-agent",
  joinKey: "the-same",
  options: { max_wait_ms: 1_000 },
  estimate: { usd: 2 },
  client: "a-client",
  enableNotifications: true,
  maxWaitMs: 1_000,
  keyFingerprint: "a-key",
  baseUrl: "https://google.test",
  processId: "me",
  now: NOW,
};
export const ERROR = { code: "GEMINI_UNAVAILABLE", message: "The quota is used up for now." };

export async function intended(db: Database, intent: Partial<Intent> = {}, join = true, admission: Admission = {}) {
  const outcome = await commitIntent(db, { ...INTENT, ...intent }, { ...admission, join });
  if (outcome.kind !== "intended") throw new Error("It was joined.");
  return outcome;
}

/** Restarts a run whose user accepted a possible double charge. */
export async function restart(db: Database, taskId: string, now = NOW + 100) {
  const again = { ...INTENT, joinKey: undefined, keyFingerprint: "k2", baseUrl: "b2", processId: "you", now };
  const carriesOn = { taskId, from: "start_unknown" } as const;
  const outcome = await commitIntent(db, { ...again, carriesOn }, { join: false });
  return outcome.kind === "intended" ? outcome : undefined;
}
