/**
 * Checks the citations of a run: fetches the cited pages, compares each with the claims that cite it, stores both.
 *
 * The claims of a report (`claims-of-run.ts`) are stored with their pages' evidence, one row per claim and page;
 * `standing.ts` says what all evidence together means for a claim. With a judge (`judge/`), a model says how likely a page
 * says what the comparison leaves open, within a maximum price.
 */

import type { Claim } from "../claims/evidence.ts";
import type { RedirectResolver } from "../gemini/redirect-links.ts";
import type { PageReading, ReadPage } from "../pages/page.ts";
import { failedOutcome } from "../pages/transport/request.ts";
import { oneLine } from "../platform/clean-text.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { pageKey } from "../reports/web-address.ts";
import { isRedirect, type Source } from "../reports/report.ts";
import { saveSourceFacts } from "../runs/links/link-store.ts";
import type { Database } from "../store/database.ts";
import { runExclusively } from "../store/slots.ts";
import { type ClaimsOfRun, claimsOfRun, type ReportOfRun } from "./claims-of-run.ts";
import {
  findEvidence,
  findFormerCheck,
  findPageChecks,
  type FormerCheck,
  savePageCheck,
  unjudgedSources,
} from "./evidence-store.ts";
import type { JudgeLimits } from "./judge/judge-port.ts";
import { evidenceOf, type ComparisonDeps } from "./page-evidence.ts";
import { checkOf, type PageCheck } from "./page-check.ts";

export interface VerifyDeps extends ComparisonDeps {
  db: Database;
  clock: Clock;
  log: Log;
  processId: string;
  readPage: ReadPage;
  resolver: RedirectResolver;
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
  /** Called once if another check is reading the same page. */
  onWait?: () => void;
}

/** A page that was checked within this time is not fetched again unless asked. */
const RECENT_MS = 24 * 3_600_000;
/** Sooner if it was not reached: the fault may be over. */
const RECENTLY_UNREACHED_MS = 10 * 60_000;
/** Neither is a page whose claims a judge has refused, unless this time has passed. */
const RECENTLY_REFUSED_MS = 3_600_000;
const MAX_CONCURRENT_PAGES = 4;

/** What a verification will do, before it does anything. */
export interface VerificationPlan extends ClaimsOfRun {
  /** The pages to fetch, each with the sources that are this page. */
  due: Source[][];
  /** The stored checks; a page that was checked again since then is not fetched. */
  checks: ReadonlyMap<number, PageCheck>;
}

export async function planVerification(
  deps: Pick<VerifyDeps, "db" | "log" | "clock" | "judge">,
  wanted: Pick<Verification, "taskId" | "result" | "numbers" | "again" | "maxPages">,
): Promise<VerificationPlan> {
  const found = await claimsOfRun(deps, wanted);
  const checks = await findPageChecks(deps.db, wanted.taskId);
  const cited = citedSources(wanted.result.sources, found.claims, wanted.numbers);
  const canJudge = deps.judge?.canJudge() === true;
  const unjudged = unjudgedSources(canJudge ? await findEvidence(deps.db, wanted.taskId) : []);
  const due = duePages(cited, { checks, again: wanted.again, unjudged, now: deps.clock.now() });
  return { ...found, due, checks };
}

/**
 * Returns the number of pages that are still to be checked. What was checked is stored at once, also if it is aborted.
 * The first failure aborts the other pages, and is thrown once none of them is in progress.
 */
export async function verifyCitations(
  deps: VerifyDeps,
  wanted: Verification,
  { due, ...plan }: VerificationPlan,
): Promise<number> {
  const { taskId } = wanted;
  const deadline = deps.clock.monotonic() + wanted.maxMs;
  const queue = due.slice(0, wanted.maxPages);
  const total = queue.length;
  const failure = new AbortController();
  const signal = AbortSignal.any([wanted.signal, failure.signal]);
  const onWait = calledOnce(wanted.onWait);
  let done = 0;
  const worker = async (): Promise<void> => {
    while (queue.length > 0 && deps.clock.monotonic() < deadline) {
      signal.throwIfAborted();
      const sources = queue.shift() ?? [];
      const page = { ...plan, taskId, sources, signal, deadline };
      const isComplete = await runExclusivelyForSources(deps, { ...page, onWait }, () => checkPage(deps, page));
      if (isComplete === true) wanted.onProgress((done += 1), total);
    }
  };
  const workers = Array.from({ length: MAX_CONCURRENT_PAGES }, () =>
    worker().catch((error: unknown) => failure.abort(error)),
  );
  await Promise.all(workers);
  signal.throwIfAborted();
  return due.length - done;
}

/**
 * Only one check at a time reads a source, so that it is not judged, and paid for, twice. Which sources are one page may
 * change with a resolved link, so each is locked on its own, in their order.
 */
function runExclusivelyForSources(
  { db, clock, log, processId }: VerifyDeps,
  { taskId, sources, signal, deadline, onWait }: CheckedSources & { onWait: () => void },
  work: () => Promise<boolean | undefined>,
): Promise<boolean | undefined> {
  const withoutStore = "Other checks of the same page are not waited for";
  const common = { db, clock, log, processId, signal, onWait, withoutStore };
  const numbers = sources.map(({ n }) => n).toSorted((one, other) => one - other);
  const nested = numbers.reduceRight((inner, n) => {
    const pool = `citations:${taskId}:${n}`;
    return () => runExclusively({ ...common, pool, maxMs: deadline - clock.monotonic() }, inner);
  }, work);
  return nested();
}

function calledOnce(callback: () => void = () => {}): () => void {
  let isCalled = false;
  return () => {
    if (!isCalled) callback();
    isCalled = true;
  };
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
  /** Sources with claims that were not judged, if a judge can be asked about them. */
  unjudged: ReadonlySet<number>;
  now: number;
}

/** The pages to fetch, each with the sources that are this page; those never checked first, then the oldest checks. */
function duePages(sources: readonly Source[], { checks, again, unjudged, now }: Due): Source[][] {
  const isDue = ({ n }: Source): boolean => {
    const check = checks.get(n);
    if (check === undefined || again || check.isUnfinished) return true;
    const age = now - check.checkedAt;
    // A page that was not reached again keeps its evidence, and is not tried on every call.
    if (check.outcome === "text" && unjudged.has(n) && (!check.isRefused || age > RECENTLY_REFUSED_MS)) return true;
    return age > (check.outcome === "unreachable" ? RECENTLY_UNREACHED_MS : RECENT_MS);
  };
  const byPage = Map.groupBy(sources.filter(isDue), ({ url, resolved_url }) => pageKey(resolved_url ?? url));
  const lastCheck = ([source]: Source[]): number => checks.get(source?.n ?? 0)?.checkedAt ?? 0;
  return [...byPage.values()].toSorted((one, other) => lastCheck(one) - lastCheck(other));
}

interface CheckedSources extends JudgeLimits, Pick<VerificationPlan, "claims" | "reportHash" | "checks"> {
  taskId: string;
  /** Sources with the same address. */
  sources: readonly Source[];
}

/** Returns false if claims are left to be judged. */
async function checkPage(deps: VerifyDeps, { sources, checks, ...page }: CheckedSources): Promise<boolean> {
  const { taskId, reportHash, claims, signal, deadline } = page;
  const former = new Map<number, FormerCheck | undefined>();
  for (const { n } of sources) former.set(n, await findFormerCheck(deps.db, taskId, n));
  // A check since the plan has done the work, unless it had no judge.
  const isDue = ({ n }: Source): boolean =>
    former.get(n)?.isUnfinished === true ||
    former.get(n)?.checkedAt === checks.get(n)?.checkedAt ||
    (former.get(n)?.isUnjudged === true && deps.judge?.canJudge() === true);
  const due = sources.filter(isDue);
  const [first] = due;
  if (first === undefined) return true;
  const reading = await readSource(deps, taskId, { source: first, signal });
  if (reading.outcome === "text") {
    const title = oneLine(reading.page.title);
    await saveSourceFacts(deps.db, taskId, new Map(due.map(({ url }) => [url, { title }])));
  }
  let isAllComplete = true;
  for (const { n } of due) {
    const citing = claims.filter((claim) => claim.sources.includes(n));
    const limits = { signal, deadline };
    const about = { taskId, source: n, claims: citing, former: former.get(n), limits };
    const { evidence, isComplete, isRefused } = await evidenceOf(deps, reading, about);
    const check = { ...checkOf(n, reading), isUnfinished: !isComplete, isRefused };
    await savePageCheck(deps.db, { taskId, reportHash }, { check, evidence });
    isAllComplete &&= isComplete;
  }
  return isAllComplete;
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
  const target = await resolver.resolve(url, signal).catch(failedOutcome);
  signal.throwIfAborted();
  if (typeof target === "object") return { ...target, url, finalUrl: url, checkedAt: clock.now() };
  if (target !== undefined) {
    await saveSourceFacts(db, taskId, new Map([[url, { resolved_url: target }]]));
    return readPage(target, signal);
  }
  const reason = "Google's link to this page has expired or leads to no public page.";
  return { outcome: "not_checked", reason, url, finalUrl: url, checkedAt: clock.now() };
}
