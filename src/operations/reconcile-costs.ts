/** Settles what Google reports by now of reserved requests that nothing polls, and sums up what stays reserved. */

import { roundUsd } from "../costs/actual.ts";
import { isoTime } from "../platform/clock.ts";
import { findReserved, type ReservedRequest } from "../runs/ledger/reserved-store.ts";
import type { OperationDeps } from "./operation.ts";

/** Why a request stays reserved: Google reports no usage, has not answered its start, or was not heard of to the end. */
const REASONS = ["no_usage", "unknown_start", "cut_off"] as const;
type Reason = (typeof REASONS)[number];

export interface ReconciledCosts {
  settled: { requests: number; reserved_usd: number; cost_usd: number };
  reserved: { reason: Reason; requests: number; oldest: string; reserved_usd: number }[];
  /** Nothing was asked. */
  without_key?: true | undefined;
}

type Deps = Pick<OperationDeps, "agent" | "clock" | "database" | "leaving" | "recorder">;

export async function reconcileCosts(deps: Deps): Promise<ReconciledCosts> {
  const db = await deps.database();
  const found = await findReserved(db);
  const agent = await deps.agent();
  if (agent === undefined) return { ...viewOf([], found), without_key: true };
  const { reconcile } = await import("../runs/poll/reconcile.ts");
  const { costOf } = await deps.recorder();
  const { settled, reserved } = await reconcile({ ...deps, db, agent, costOf }, found);
  return viewOf(settled, reserved);
}

function viewOf(
  settled: { request: ReservedRequest; usd: number }[],
  reserved: readonly ReservedRequest[],
): ReconciledCosts {
  const sum = (usds: number[]): number => roundUsd(usds.reduce((total, usd) => total + usd, 0));
  const groups = REASONS.map((reason) => ({ reason, of: reserved.filter((one) => reasonOf(one) === reason) }));
  return {
    settled: {
      requests: settled.length,
      reserved_usd: sum(settled.map(({ request }) => request.usd)),
      cost_usd: sum(settled.map(({ usd }) => usd)),
    },
    reserved: groups.flatMap(({ reason, of: [oldest, ...others] }) =>
      oldest === undefined
        ? []
        : {
            reason,
            requests: 1 + others.length,
            oldest: isoTime(oldest.createdAt),
            reserved_usd: sum([oldest, ...others].map(({ usd }) => usd)),
          },
    ),
  };
}

const IN_PROCESS: ReadonlySet<ReservedRequest["kind"]> = new Set(["search", "round", "correction", "judge"]);

const reasonOf = ({ interactionId, kind }: ReservedRequest): Reason =>
  interactionId !== undefined ? "no_usage" : IN_PROCESS.has(kind) ? "cut_off" : "unknown_start";
