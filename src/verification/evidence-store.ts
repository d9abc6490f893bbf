/** SQL for the checks of cited pages and for evidence about claims. */

import type { Insertable } from "kysely";
import { z } from "zod";
import { type Evidence, EVIDENCE_KINDS, VERDICTS } from "../claims/evidence.ts";
import { lockRun } from "../runs/lock-store.ts";
import { storedJson } from "../runs/run-row.ts";
import { type Database, storable, type Tables } from "../store/database.ts";
import { hasClaimsOf } from "./claim-store.ts";
import { isOpen, type Probabilities } from "./judge/judge-port.ts";
import type { PageCheck } from "./page-check.ts";

/** Evidence with the time at which it was found. */
export type DatedEvidence = Evidence & { checkedAt: number };

export interface CheckedPage {
  check: PageCheck;
  /** What the page says about each claim that cites it. */
  evidence: Evidence[];
}

/** The stored check of a page, as far as a later check depends on it. */
export interface FormerCheck {
  checkedAt: number;
  /** Claims are left to be judged. */
  isUnfinished: boolean;
  /** Of the text from which the evidence is; undefined if there was none. */
  hash: string | undefined;
  /** What a model judged, which was paid for. */
  judged: Probabilities;
  /** A claim that the text of the page leaves open was not judged, and no judge refused it. */
  isUnjudged: boolean;
}

export async function findFormerCheck(db: Database, taskId: string, source: number): Promise<FormerCheck | undefined> {
  const page = await db
    .selectFrom("research_pages")
    .select(["checked_at", "text_hash", "is_unfinished", "outcome"])
    .where("task_id", "=", taskId)
    .where("source", "=", source)
    .executeTakeFirst();
  if (page === undefined) return undefined;
  const evidence = await db
    .selectFrom("research_evidence")
    .select(["claim", "judged", "verdict", "probability"])
    .where("task_id", "=", taskId)
    .where("source", "=", source)
    .where("kind", "=", "page")
    .execute();
  const judged = evidence.filter(isJudged);
  return {
    checkedAt: page.checked_at,
    isUnfinished: page.is_unfinished === 1,
    hash: page.text_hash ?? undefined,
    judged: new Map(judged.map(({ claim, probability }) => [claim, probability ?? undefined])),
    isUnjudged:
      page.outcome === "text" &&
      page.is_unfinished !== 2 &&
      evidence.some((each) => isOpen(verdicts.parse(each.verdict)) && !isJudged(each)),
  };
}

const isJudged = ({ judged }: { judged: number }): boolean => judged === 1;

/**
 * Replaces the check of a page together with its evidence. What its text said stays while the page cannot be read again,
 * unless it is gone. Does nothing once the run is deleted, or its claims were split anew from another report.
 */
export function savePageCheck(
  db: Database,
  { taskId, reportHash }: { taskId: string; reportHash: string },
  { check, evidence }: CheckedPage,
): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    if (!(await lockRun(transaction, taskId))) return;
    if (!(await hasClaimsOf(transaction, taskId, reportHash))) return;
    const { source } = check;
    const former = await findFormerCheck(transaction, taskId, source);
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
  is_unfinished: check.isUnfinished ? 1 : check.isRefused ? 2 : 0,
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
        isUnfinished: row.is_unfinished === 1,
        isRefused: row.is_unfinished === 2,
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

/** Numbers of the sources with a claim that was left open by the text of its page, and not judged. */
export const unjudgedSources = (evidence: readonly Evidence[]): Set<number> =>
  new Set(
    evidence
      .filter(({ kind, verdict, judged }) => kind === "page" && isOpen(verdict) && judged !== true)
      .map(({ source }) => source),
  );
