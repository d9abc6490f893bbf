/** The claims of a stored report: split when they are first needed, so that no paid report waits for it. */

import { createHash } from "node:crypto";
import type { Claim } from "../claims/evidence.ts";
import type { Log } from "../platform/log.ts";
import type { StoredResult } from "../runs/run.ts";
import type { Database } from "../store/database.ts";
import { findClaims, saveClaims } from "./claim-store.ts";

/** Of a longer report, only the first ones are checked. */
const MAX_CLAIMS = 5_000;

export interface ReportOfRun {
  taskId: string;
  result: Pick<StoredResult, "report" | "sources" | "citations" | "supports">;
}

export interface ClaimsOfRun {
  claims: Claim[];
  reportHash: string;
}

/** Stored together with the claims: these are of no use for another text. */
export const reportHashOf = (report: string): string => createHash("sha256").update(report).digest("hex");

export interface ClaimsDeps {
  db: Database;
  log: Log;
}

/** A report that cannot be split has no claims; it stays readable, and the log names it. */
export async function claimsOfRun({ db, log }: ClaimsDeps, { taskId, result }: ReportOfRun): Promise<ClaimsOfRun> {
  const reportHash = reportHashOf(result.report);
  const stored = await findClaims(db, taskId, reportHash);
  if (stored !== undefined) return { claims: stored, reportHash };
  const split = await claimsIn(result, log.forRun(taskId));
  return { claims: await saveClaims(db, { taskId, reportHash, claims: split }), reportHash };
}

async function claimsIn({ report, sources, citations, supports }: ReportOfRun["result"], log: Pick<Log, "warn">) {
  const { splitClaims } = await import("../claims/split-claims.ts");
  try {
    return splitClaims({ report, sources, citations, supports }).slice(0, MAX_CLAIMS);
  } catch (error) {
    log.warn(`The report could not be split into claims: ${error instanceof Error ? error.message : "unknown"}`);
    return [];
  }
}
