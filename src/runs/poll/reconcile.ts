/** Asks Google once more what requests have used that are still reserved. What it does not report stays reserved. */

import type { Agent, Interaction } from "../../gemini/research-agent.ts";
import type { Database } from "../../store/database.ts";
import { settleEntry } from "../ledger/ledger-store.ts";
import type { ReservedRequest } from "../ledger/reserved-store.ts";
import type { ResearchDeps } from "../deps.ts";
import { usageOf } from "../run.ts";
import { recordLateUsage } from "./poll-result-store.ts";

interface ReconcileDeps extends Pick<ResearchDeps, "clock" | "costOf" | "leaving"> {
  db: Database;
  agent: Agent;
}

const TIMEOUT_MS = 10_000;

interface Reconciled {
  settled: { request: ReservedRequest; usd: number }[];
  reserved: ReservedRequest[];
}

export async function reconcile(deps: ReconcileDeps, requests: readonly ReservedRequest[]): Promise<Reconciled> {
  const done: Reconciled = { settled: [], reserved: [] };
  let isReachable = true;
  for (const request of requests) {
    const polled = isReachable && isPollable(deps, request) ? await poll(deps, request.interactionId) : undefined;
    // The others would meet the same, each up to the timeout.
    if (polled?.kind === "rate_limited" || polled?.kind === "unreachable") isReachable = false;
    const usage = polled?.kind === "found" && HAS_ENDED.has(polled.interaction.status) && polled.interaction.usage;
    if (usage === undefined || usage === false) {
      done.reserved.push(request);
      continue;
    }
    const used = { ...usageOf(deps, request, usage), now: deps.clock.now() };
    const { taskId, interactionId = "", entryId } = request;
    if (taskId === undefined) await settleEntry(deps.db, { entryId, ...used });
    else await recordLateUsage(deps.db, { taskId, interactionId }, used);
    done.settled.push({ request, usd: used.cost.usd ?? 0 });
  }
  return done;
}

/** The usage so far of a run that may not have ended settles nothing. */
const HAS_ENDED: ReadonlySet<Interaction["status"]> = new Set(["completed", "failed", "cancelled", "ended_early"]);

/** Google shows an interaction to the key that started it, at the same address. */
const isPollable = (
  { agent: { fingerprint } }: ReconcileDeps,
  { interactionId, keyFingerprint, baseUrl = fingerprint.baseUrl }: ReservedRequest,
): boolean => interactionId !== undefined && keyFingerprint === fingerprint.key && baseUrl === fingerprint.baseUrl;

const poll = ({ agent, leaving }: ReconcileDeps, interactionId = "") =>
  agent.poll(interactionId, AbortSignal.any([leaving, AbortSignal.timeout(TIMEOUT_MS)]));
