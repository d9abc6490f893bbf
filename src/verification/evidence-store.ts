/** SQL for the checks of cited pages and for evidence about claims. */

import type { Insertable } from "kysely";
import { z } from "zod";
import { type Evidence, EVIDENCE_KINDS, VERDICTS } from "../claims/evidence.ts";
import { lockRun } from "../runs/lock-store.ts";
import { storedJson } from "../runs/run-row.ts";
import { type Database, storable, type Tables } from "../store/database.ts";
import { hasClaims } from "../runs/result-store.ts";
import { isOpen, type Probabilities } from "./judge/judge-port.ts";
import type { PageCheck } from "./page-check.ts";

/** Evidence with the time at which it was found. */
export type DatedEvidence = Evidence & { checkedAt: number };

export interface CheckedPage {
  check: PageCheck;
  /** What the page says about each claim that cites it. */
  evidence: Evidence[];
  former: Pick<PageCheck, "hash"> | undefined;
}

/** The stored check of a page, and what its evidence means for a later check. */
export interface FormerCheck extends PageCheck {
  /** What a model judged, which was paid for. */
  judged: Probabilities;
  /** A claim that the text of the page leaves open was not judged. */
  isUnjudged: boolean;
}

/** By number of the source. */
export async function findFormerChecks(db: Database, taskId: string): Promise<Map<number, FormerCheck>> {
  const checks = await findPageChecks(db, taskId);
  const evidence = (await findEvidence(db, taskId)).filter(({ kind }) => kind === "page");
  const bySource = Map.groupBy(evidence, ({ source }) => source);
  const former = [...checks].map(([source, check]): [number, FormerCheck] => {
    const found = bySource.get(source) ?? [];
    const judged = found.filter((each) => each.judged === true);
    const isUnjudged = check.outcome === "text" && found.some((each) => isOpen(each.verdict) && each.judged !== true);
    return [
      source,
      { ...check, judged: new Map(judged.map(({ claim, probability }) => [claim, probability])), isUnjudged },
    ];
  });
  return new Map(former);
}

/**
 * Replaces the check of a page together with its evidence. What its text said stays while the page cannot be read again,
 * unless it is gone. Does nothing once the run is deleted, or its claims were split anew from another report.
 */
export function savePageCheck(
  db: Database,
  { taskId, reportHash }: { taskId: string; reportHash: string },
  { check, evidence, former }: CheckedPage,
): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    if (!(await lockRun(transaction, taskId))) return;
    if (!(await hasClaims(transaction, taskId, reportHash))) return;
    const { source } = check;
    const keptHash = check.outcome === "text" || check.outcome === "gone" ? undefined : former?.hash;
    await transaction.deleteFrom("research_pages").where("task_id", "=", taskId).where("source", "=", source).execute();
    await transaction
      .insertInto("research_pages")
      .values(pageRow(taskId, { ...check, hash: keptHash ?? check.hash }))
      .execute();
    if (keptHash !== undefined) return;
    await transaction
      .deleteFrom("research_evidence")
      .where("task_id", "=", taskId)
      .where("source", "=", source)
      .where("kind", "=", "page")
      .execute();
    await insertEvidence(transaction, taskId, { evidence, now: check.checkedAt });
  });
}

/** Adds evidence of another kind than `page`, and replaces what is stored of the same kind. */
export function saveEvidence(
  db: Database,
  taskId: string,
  { kind, evidence, now }: { kind: "read"; evidence: Evidence[]; now: number },
): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    if (!(await lockRun(transaction, taskId))) return;
    await transaction.deleteFrom("research_evidence").where("task_id", "=", taskId).where("kind", "=", kind).execute();
    await insertEvidence(transaction, taskId, { evidence, now });
  });
}

/** Below the number of parameters that SQLite accepts. */
const ROWS_PER_INSERT = 100;

async function insertEvidence(
  db: Database,
  taskId: string,
  { evidence, now }: { evidence: Evidence[]; now: number },
): Promise<void> {
  const rows = evidence.map((each): Insertable<Tables["research_evidence"]> => ({
    task_id: taskId,
    claim: each.claim,
    source: each.source,
    kind: each.kind,
    verdict: each.verdict,
    reason: text(each.reason),
    passage: text(each.passage),
    page_says: text(each.pageSays),
    probability: each.probability ?? null,
    judged: each.judged === true ? 1 : 0,
    checked_at: now,
  }));
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT) {
    await db
      .insertInto("research_evidence")
      .values(rows.slice(at, at + ROWS_PER_INSERT))
      .execute();
  }
}

const text = (value: string | undefined): string | null => (value === undefined ? null : storable(value));

const pageRow = (taskId: string, check: PageCheck): Insertable<Tables["research_pages"]> => ({
  task_id: taskId,
  source: check.source,
  outcome: check.outcome,
  reason: text(check.reason),
  is_refused: check.isRefused ? 1 : 0,
  url: storable(check.url),
  final_url: storable(check.finalUrl),
  http_status: check.httpStatus ?? null,
  text_hash: check.hash ?? null,
  shingles_json: check.shingles === undefined ? null : JSON.stringify(check.shingles),
  published: text(check.date),
  author: text(check.author),
  checked_at: check.checkedAt,
});

const outcomes = z.enum(["text", "unreadable", "gone", "unreachable", "not_checked"]).catch("not_checked");
const hashes = z.array(z.number());

/** By number of the source. */
export async function findPageChecks(db: Database, taskId: string): Promise<Map<number, PageCheck>> {
  const rows = await db
    .selectFrom("research_pages")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("source")
    .execute();
  return new Map(
    rows.map((row) => [
      row.source,
      {
        source: row.source,
        outcome: outcomes.parse(row.outcome),
        reason: row.reason ?? undefined,
        isRefused: row.is_refused === 1,
        url: row.url,
        finalUrl: row.final_url,
        httpStatus: row.http_status ?? undefined,
        hash: row.text_hash ?? undefined,
        shingles: row.shingles_json === null ? undefined : storedJson(row.shingles_json, hashes),
        date: row.published ?? undefined,
        author: row.author ?? undefined,
        checkedAt: row.checked_at,
      },
    ]),
  );
}

const kinds = z.enum(EVIDENCE_KINDS).catch("page");
const verdicts = z.enum(VERDICTS).catch("not_checked");

/** In the order of claims and sources. */
export async function findEvidence(db: Database, taskId: string): Promise<DatedEvidence[]> {
  const rows = await db
    .selectFrom("research_evidence")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("claim")
    .orderBy("source")
    .orderBy("kind")
    .execute();
  return rows.map((row) => ({
    claim: row.claim,
    source: row.source,
    kind: kinds.parse(row.kind),
    verdict: verdicts.parse(row.verdict),
    reason: row.reason ?? undefined,
    passage: row.passage ?? undefined,
    pageSays: row.page_says ?? undefined,
    probability: row.probability ?? undefined,
    judged: row.judged === 1,
    checkedAt: row.checked_at,
  }));
}
