/** Settles what Google reports by now of reserved requests that nothing polls, and sums up what stays reserved. */

import { roundUsd } from "../costs/actual.ts";
import { isoTime } from "../platform/clock.ts";
import { type ReservedRequest, reservedUnpolled } from "../runs/ledger/reserved-store.ts";
import { type Reason, REASONS, reasonUnasked, reconcile, type StillReserved } from "../runs/poll/reconcile.ts";
import { databaseNow } from "../store/dialect.ts";
import type { OperationDeps } from "./operation.ts";

export interface ReconciledCosts {
  settled: { requests: number; reserved_usd: number; cost_usd: number };
  reserved: { reason: Reason; requests: number; oldest: string; reserved_usd: number }[];
  /** Nothing was asked. */
  without_key?: true | undefined;
}

type Deps = Pick<OperationDeps, "agent" | "clock" | "database" | "leaving" | "recorder" | "settings">;

export async function reconcileCosts(deps: Deps): Promise<ReconciledCosts> {
  const db = await deps.database();
  const found = await reservedUnpolled(db, await databaseNow(db, deps.clock.now()));
  const agent = await deps.agent();
  if (agent === undefined) {
    const reserved = found.map((request) => ({ request, reason: reasonUnasked(request) }));
    return { ...viewOf([], reserved), without_key: true };
  }
  const { costOf } = await deps.recorder();
  const { maxRps } = deps.settings;
  const { settled, reserved } = await reconcile({ ...deps, db, agent, costOf, maxRps }, found);
  return viewOf(settled, reserved);
}

function viewOf(
  settled: { request: ReservedRequest; usd: number }[],
  reserved: readonly StillReserved[],
): ReconciledCosts {
  const sum = (usds: number[]): number => roundUsd(usds.reduce((total, usd) => total + usd, 0));
  const groups = REASONS.map((reason) => ({
    reason,
    of: reserved.flatMap((one) => (one.reason === reason ? one.request : [])),
  }));
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
