/** SQL for the claims of a run, and for what its judge used. */

import { z } from "zod";
import type { Claim } from "../claims/evidence.ts";
import type { Cost } from "../costs/actual.ts";
import { type Budgets, hasHardLimit } from "../costs/budget.ts";
import { refusalOf } from "../runs/ledger/budget-store.ts";
import { judgeMicros, microsOf, release, reserve, settleEntry } from "../runs/ledger/ledger-store.ts";
import { lockRun, readColumns } from "../runs/lock-store.ts";
import { hasClaims, readClaimsJson, saveClaimsJson } from "../runs/result-store.ts";
import type { Database } from "../store/database.ts";
import { databaseNow } from "../store/dialect.ts";

const numbers = z.array(z.number());
const strings = z.array(z.string());
const claimList: z.ZodType<Claim[]> = z.array(
  z.object({
    n: z.number(),
    text: z.string(),
    headings: strings,
    context: strings,
    start: z.number(),
    end: z.number(),
    sources: numbers,
    googleSources: numbers,
  }),
);

/** The stored claims; undefined if there are none of this report, or none that can be read. */
export async function findClaims(db: Database, taskId: string, reportHash: string): Promise<Claim[] | undefined> {
  const json = await readClaimsJson(db, taskId, reportHash);
  if (json === undefined) return undefined;
  try {
    return claimList.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/**
 * Stores the claims of a report, and deletes the evidence about those of an earlier one, whose numbers mean other
 * claims. What the judge used stays counted. Returns the claims that are stored then: another process may have been
 * first, and its evidence counts by its numbers. Does nothing once the run is deleted.
 */
export function saveClaims(
  db: Database,
  { taskId, reportHash, claims }: { taskId: string; reportHash: string; claims: Claim[] },
): Promise<Claim[]> {
  return db.transaction().execute(async (transaction) => {
    if (!(await lockRun(transaction, taskId))) return claims;
    const stored = await findClaims(transaction, taskId, reportHash);
    if (stored !== undefined) return stored;
    await transaction.deleteFrom("research_evidence").where("task_id", "=", taskId).execute();
    await transaction.deleteFrom("research_pages").where("task_id", "=", taskId).execute();
    await saveClaimsJson(transaction, { taskId, reportHash, json: JSON.stringify(claims) });
    return claims;
  });
}

export interface JudgeRequest {
  entryId: string;
  taskId: string;
  model: string;
  keyFingerprint: string | undefined;
  /** The most that it may cost. */
  maxUsd: number;
  /** What all requests for one report may cost. */
  limitUsd: number;
  budgets: Budgets;
  now: number;
}

/**
 * Reserves a request to the judge before it is sent, at its maximum cost: it may be charged even if its answer never
 * arrives. What cannot be counted, because the run was deleted or a limit would be exceeded, must not be sent.
 */
export function reserveJudgeRequest(
  db: Database,
  request: JudgeRequest,
): Promise<"reserved" | "over" | "over_budget" | "deleted"> {
  const { taskId, maxUsd, limitUsd, budgets, now } = request;
  return db.transaction().execute(async (transaction) => {
    // Before its claims, as everywhere: another order could end in a deadlock.
    if (!(await lockRun(transaction, taskId))) return "deleted";
    const run = await readColumns(transaction, taskId, ["owner"]);
    if (run === undefined || !(await hasClaims(transaction, taskId))) return "deleted";
    const micros = await judgeMicros(transaction, taskId);
    if (micros + microsOf(maxUsd) > microsOf(limitUsd)) return "over";
    const { owner } = run;
    const page = { owner, now, what: "request", maxUsd, undone: "It was not sent." };
    // The judge has a limit of its own for each report.
    const shared = { ...budgets, run: {} };
    if (hasHardLimit(shared) && (await refusalOf(transaction, shared, page)) !== undefined) return "over_budget";
    const at = await databaseNow(transaction, now);
    await reserve(transaction, { ...request, owner, kind: "judge", isConfirmed: false, at });
    return "reserved";
  });
}

/** Replaces the reserved maximum of a request by what it has cost; nothing, if Google has refused it. */
export async function settleJudgeRequest(
  db: Database,
  { entryId, cost, now }: Pick<JudgeRequest, "entryId" | "now"> & { cost: Cost | "nothing" },
): Promise<void> {
  await (cost === "nothing" ? release(db, entryId) : settleEntry(db, { entryId, cost, now }));
}
