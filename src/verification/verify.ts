/** Checks the citations of a run: fetches the cited pages, compares each with the claims that cite it, stores both. */

import type { Claim } from "../claims/claim.ts";
import type { Evidence } from "../claims/evidence.ts";
import type { RedirectResolver } from "../gemini/redirect-links.ts";
import type { PageReading, PageText, ReadPage } from "../pages/page.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { pageKey } from "../reports/page-key.ts";
import { isRedirect, type Source } from "../reports/report.ts";
import { saveResolved } from "../runs/links/link-store.ts";
import type { Database } from "../store/database.ts";
import { type ClaimsOfRun, claimsOfRun, type ReportOfRun } from "./claims-of-run.ts";
import { findPageChecks, savePageCheck } from "./evidence-store.ts";
import { checkOf, type PageCheck } from "./page-check.ts";

export interface VerifyDeps {
  db: Database;
  clock: Clock;
  log: Log;
  readPage: ReadPage;
  resolver: RedirectResolver;
  /** Undefined: pages are compared with claims without a model. */
  judge?: Judge | undefined;
}

/** A model that judges what the comparison of texts did not confirm. */
export interface Judge {
  model: string;
  /** Undefined without a price of the model. */
  estimateUsd(requests: number): number | undefined;
  /** Returns evidence about those claims that it could judge. */
  judge(request: JudgeRequest, signal: AbortSignal): Promise<Evidence[]>;
}

export interface JudgeRequest {
  taskId: string;
  source: number;
  page: PageText;
  claims: Claim[];
}

export interface Verification extends ReportOfRun {
  /** Numbers of the sources to check; undefined: all that a claim cites. */
  numbers?: readonly number[] | undefined;
  /** Fetch pages that were checked recently, too. */
  again: boolean;
  maxPages: number;
  maxMs: number;
  signal: AbortSignal;
  onProgress: (done: number, of: number) => void;
}

/** A page that was checked within this time is not fetched again unless asked. */
const RECENT_MS = 24 * 3_600_000;
/** Sooner if it was not reached: the fault may be over. */
const RECENTLY_UNREACHED_MS = 10 * 60_000;
const MAX_CONCURRENT_PAGES = 4;
const MAX_PASSAGE_CHARACTERS = 600;
const MAX_REASON_CHARACTERS = 300;

/** What a verification will do, before it does anything. */
export interface VerificationPlan extends ClaimsOfRun {
  /** The pages to fetch, each with the sources that are this page. */
  due: Source[][];
  /** Pairs of a claim and a page, each of which a judge may be asked about. */
  pairs: number;
}

export async function planVerification(
  deps: Pick<VerifyDeps, "db" | "log" | "clock">,
  wanted: Pick<Verification, "taskId" | "result" | "numbers" | "again" | "maxPages">,
): Promise<VerificationPlan> {
  const found = await claimsOfRun(deps, wanted);
  const checks = await findPageChecks(deps.db, wanted.taskId);
  const cited = citedSources(wanted.result.sources, found.claims, wanted.numbers);
  const due = duePages(cited, { checks, again: wanted.again, now: deps.clock.now() });
  const fetched = new Set(due.slice(0, wanted.maxPages).flatMap((page) => page.map(({ n }) => n)));
  const pairs = found.claims.reduce((sum, { sources }) => sum + sources.filter((n) => fetched.has(n)).length, 0);
  return { ...found, due, pairs };
}

/** Returns the number of pages that are still to be checked. What was checked is stored at once, also if it is aborted. */
export async function verifyCitations(
  deps: VerifyDeps,
  wanted: Verification,
  { claims, reportHash, due }: VerificationPlan,
): Promise<number> {
  const { taskId, signal } = wanted;
  const queue = due.slice(0, wanted.maxPages);
  const total = queue.length;
  const deadline = deps.clock.monotonic() + wanted.maxMs;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (queue.length > 0 && deps.clock.monotonic() < deadline) {
      signal.throwIfAborted();
      const page = queue.shift() ?? [];
      const checked = await checkPage(deps, { taskId, claims, sources: page, signal });
      for (const each of checked) await savePageCheck(deps.db, { taskId, reportHash }, each);
      wanted.onProgress((done += 1), total);
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_PAGES }, worker));
  return due.length - done;
}

/** Sources that a claim cites, or those with the given numbers. */
function citedSources(
  sources: readonly Source[],
  claims: readonly Claim[],
  numbers: readonly number[] | undefined,
): Source[] {
  const wanted = new Set(numbers ?? claims.flatMap((claim) => claim.sources));
  return sources.filter(({ n }) => wanted.has(n));
}

interface Due {
  checks: ReadonlyMap<number, PageCheck>;
  again: boolean;
  now: number;
}

/** The pages to fetch, each with the sources that are this page; those never checked first, then the oldest checks. */
function duePages(sources: readonly Source[], { checks, again, now }: Due): Source[][] {
  const isDue = ({ n }: Source): boolean => {
    const check = checks.get(n);
    if (check === undefined || again) return true;
    return now - check.checkedAt > (check.outcome === "unreachable" ? RECENTLY_UNREACHED_MS : RECENT_MS);
  };
  const byPage = Map.groupBy(sources.filter(isDue), ({ url, resolved_url }) => pageKey(resolved_url ?? url));
  const lastCheck = ([source]: Source[]): number => checks.get(source?.n ?? 0)?.checkedAt ?? 0;
  return [...byPage.values()].toSorted((one, other) => lastCheck(one) - lastCheck(other));
}

interface CheckedSources {
  taskId: string;
  claims: readonly Claim[];
  /** Sources with the same address. */
  sources: readonly Source[];
  signal: AbortSignal;
}

async function checkPage(deps: VerifyDeps, { taskId, claims, sources, signal }: CheckedSources) {
  const [first] = sources;
  if (first === undefined) return [];
  const reading = await readSource(deps, taskId, { source: first, signal });
  return Promise.all(
    sources.map(async ({ n }) => ({
      check: checkOf(n, reading),
      evidence: await evidenceOf(deps, reading, {
        taskId,
        source: n,
        signal,
        claims: claims.filter((claim) => claim.sources.includes(n)),
      }),
    })),
  );
}

/** The target of one of Google's redirect links is stored first: a page that is slow or gone must not cost its address. */
async function readSource(
  { db, clock, readPage, resolver }: VerifyDeps,
  taskId: string,
  { source, signal }: { source: Source; signal: AbortSignal },
): Promise<PageReading> {
  const { url } = source;
  if (source.resolved_url !== undefined) return readPage(source.resolved_url, signal);
  if (!isRedirect(url)) return readPage(url, signal);
  const target = await resolver.resolve(url, signal);
  if (target !== undefined) {
    await saveResolved(db, taskId, new Map([[url, target]]));
    return readPage(target, signal);
  }
  const reason = "Google's link to this page has expired or leads to no public page.";
  return { outcome: "not_checked", reason, url, finalUrl: url, checkedAt: clock.now() };
}

interface ClaimsOfSource {
  taskId: string;
  source: number;
  claims: readonly Claim[];
  signal: AbortSignal;
}

async function evidenceOf(
  { judge }: Pick<VerifyDeps, "judge">,
  reading: PageReading,
  { taskId, source, claims, signal }: ClaimsOfSource,
): Promise<Evidence[]> {
  if (reading.outcome !== "text") {
    const { reason } = checkOf(source, reading);
    const verdict = reading.outcome;
    return claims.map(({ n }) => bounded({ claim: n, source, kind: "page", verdict, reason }));
  }
  const { page } = reading;
  const { comparePage } = await import("../claims/compare-page.ts");
  const compared = claims.map((claim) => ({
    claim,
    evidence: bounded({ claim: claim.n, source, kind: "page", ...comparePage(claim, page) }),
  }));
  const open = compared.filter(({ evidence }) => evidence.verdict !== "supported").map(({ claim }) => claim);
  if (judge === undefined || open.length === 0) return compared.map(({ evidence }) => evidence);
  const found = await judge.judge({ taskId, source, page, claims: open }, signal);
  const judged = new Map(found.map((each) => [each.claim, each]));
  return compared.map(({ claim, evidence }) => bounded(judged.get(claim.n) ?? evidence));
}

const bounded = ({ passage, reason, ...evidence }: Evidence): Evidence => ({
  ...evidence,
  passage: cut(passage, MAX_PASSAGE_CHARACTERS),
  reason: cut(reason, MAX_REASON_CHARACTERS),
});

const cut = (text: string | undefined, max: number): string | undefined =>
  text === undefined || text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
