/** Asks Google once more what requests have used that are still reserved. What it does not report stays reserved. */

import type { Agent, Interaction, PollResult } from "../../gemini/research-agent.ts";
import type { Database } from "../../store/database.ts";
import { pollKeyOf } from "../../store/processes.ts";
import { reservePermits } from "../../store/rate-limiter.ts";
import { settleEntry } from "../ledger/ledger-store.ts";
import { IN_PROCESS, type ReservedRequest } from "../ledger/reserved-store.ts";
import type { ResearchDeps } from "../deps.ts";
import { usageOf } from "../run.ts";
import { pausePolls, rateOf } from "../scheduling/permits.ts";
import { recordUsage } from "./poll-result-store.ts";
import { RATE_LIMIT_MS } from "./seen-store.ts";

interface ReconcileDeps extends Pick<ResearchDeps, "clock" | "costOf" | "leaving"> {
  db: Database;
  agent: Agent;
  /** Polls of all processes with this key in a second. */
  maxRps: number;
}

/** Of a poll, and of the wait for its permit. */
const TIMEOUT_MS = 10_000;

/** Why a request stays reserved. */
export const REASONS = ["no_usage", "no_price", "not_asked", "unknown_start", "cut_off", "deleted"] as const;
export type Reason = (typeof REASONS)[number];

interface Reconciled {
  settled: { request: ReservedRequest; usd: number }[];
  reserved: StillReserved[];
}

export interface StillReserved {
  request: ReservedRequest;
  reason: Reason;
}

export async function reconcile(deps: ReconcileDeps, requests: readonly ReservedRequest[]): Promise<Reconciled> {
  const done: Reconciled = { settled: [], reserved: [] };
  let isReachable = true;
  for (const request of requests) {
    const outcome = isReachable && isPollable(deps, request) ? await settle(deps, request) : reasonUnasked(request);
    // The others would meet the same, each up to the timeout.
    if (outcome === "out_of_reach") isReachable = false;
    if (typeof outcome === "object") done.settled.push({ request, ...outcome });
    else done.reserved.push({ request, reason: outcome === "out_of_reach" ? "not_asked" : outcome });
  }
  return done;
}

/** Why a request stays reserved that Google is not asked about. */
export const reasonUnasked = ({ interactionId, isDeleted, kind }: ReservedRequest): Reason =>
  interactionId !== undefined
    ? "not_asked"
    : IN_PROCESS.includes(kind)
      ? "cut_off"
      : isDeleted
        ? "deleted"
        : "unknown_start";

type Pollable = ReservedRequest & { interactionId: string };

/** Google shows an interaction to the key that started it, at the same address. */
const isPollable = ({ agent: { fingerprint } }: ReconcileDeps, request: ReservedRequest): request is Pollable =>
  request.interactionId !== undefined &&
  request.keyFingerprint === fingerprint.key &&
  request.baseUrl === fingerprint.baseUrl;

/** The usage so far of a run that may not have ended settles nothing. */
const HAS_ENDED: ReadonlySet<Interaction["status"]> = new Set(["completed", "failed", "cancelled", "ended_early"]);

/** Returns what it has cost, or why it stays reserved. */
async function settle(deps: ReconcileDeps, request: Pollable): Promise<{ usd: number } | Reason | "out_of_reach"> {
  const polled = await poll(deps, request.interactionId);
  if (polled === "no_permit" || polled.kind === "rate_limited" || polled.kind === "unreachable") return "out_of_reach";
  if (polled.kind !== "found" || !HAS_ENDED.has(polled.interaction.status)) return "no_usage";
  const { usage } = polled.interaction;
  if (usage === undefined) return "no_usage";
  const used = { ...usageOf(deps, request, usage), now: deps.clock.now() };
  const { usd, incomplete } = used.cost;
  if (usd === undefined || incomplete) return "no_price";
  const { taskId, interactionId, entryId } = request;
  if (taskId === undefined) await settleEntry(deps.db, { entryId, ...used });
  // Its run was deleted meanwhile, or has another interaction: the next call finds it so.
  else if (!(await recordUsage(deps.db, { taskId, interactionId }, used))) return "no_usage";
  return { usd };
}

/** Like the polls of runs, with a permit of the rate that all processes share. */
async function poll(deps: ReconcileDeps, interactionId: string): Promise<PollResult | "no_permit"> {
  const { db, agent, clock, leaving, maxRps } = deps;
  const key = pollKeyOf(agent.fingerprint);
  const reservation = { permits: 1, withinMs: TIMEOUT_MS, now: clock.now() };
  const permit = await reservePermits(db, rateOf(db, { key, maxRps }), reservation);
  if ("waitMs" in permit) return "no_permit";
  await clock.sleep(permit.fromMs, leaving).catch(() => undefined);
  const polled = await agent.poll(interactionId, AbortSignal.any([leaving, AbortSignal.timeout(TIMEOUT_MS)]));
  if (polled.kind === "rate_limited") {
    await pausePolls(db, { key, ms: polled.retryAfterMs ?? RATE_LIMIT_MS, now: clock.now() });
  }
  return polled;
}
