/**
 * Checks the citations of a run: fetches the cited pages, compares each with the claims that cite it, stores both.
 *
 * The claims of a report (`claims-of-run.ts`) are stored with their pages' evidence, one row per claim and page;
 * `standing.ts` says what all evidence together means for a claim. With a judge (`judge/`), a model says how likely a page
 * says what the comparison leaves open, within a maximum price.
 */

import { type Claim, isCheckable } from "../claims/evidence.ts";
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
import { claimsOfRun, type ReportOfRun } from "./claims-of-run.ts";
import { findFormerChecks, type FormerCheck, savePageCheck } from "./evidence-store.ts";
import type { JudgeLimits } from "./judge/judge-port.ts";
import { evidenceOf, type ComparisonDeps } from "./page-evidence.ts";
import { checkOf } from "./page-check.ts";

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
  /** Before the first page is fetched, with 0. */
  onProgress: (done: number, of: number) => void;
  /** Called once if another check of the report is in progress. */
  onWait?: (() => void) | undefined;
}

/** A page that was checked within this time is not fetched again unless asked. */
const RECENT_MS = 24 * 3_600_000;
/** Sooner if it was not reached: the fault may be over. */
const RECENTLY_UNREACHED_MS = 10 * 60_000;
/** Neither is a page whose claims a judge has refused, unless this time has passed. */
const RECENTLY_REFUSED_MS = 3_600_000;
const MAX_CONCURRENT_PAGES = 4;

/**
 * Returns the number of pages that are still to be checked. Only one check of a report runs at a time, so that no page is
 * fetched, judged, and paid for, twice. What was checked is stored at once, also if it is aborted.
 */
export async function verifyCitations(deps: VerifyDeps, wanted: Verification): Promise<number> {
  const { db, clock, log, processId } = deps;
  const { taskId, signal, maxMs, onWait } = wanted;
  const deadline = clock.monotonic() + maxMs;
  const pool = { pool: `citations:${taskId}`, withoutStore: "Other checks of the same report are not waited for" };
  const left = await runExclusively({ db, clock, log, processId, ...pool, signal, maxMs, onWait }, () =>
    checkPages(deps, wanted, deadline),
  );
  return left ?? (await planOf(deps, wanted)).due.length;
}

interface Plan {
  claims: Claim[];
  reportHash: string;
  former: ReadonlyMap<number, FormerCheck>;
  /** The pages to fetch, each with the sources that are this page. */
  due: Source[][];
}

async function planOf(deps: VerifyDeps, wanted: Verification): Promise<Plan> {
  const { taskId, result, numbers, again } = wanted;
  const { claims, reportHash } = await claimsOfRun(deps, wanted);
  const former = await findFormerChecks(deps.db, taskId);
  const cited = new Set(numbers ?? claims.flatMap(({ sources }) => sources));
  const due = duePages(
    result.sources.filter(({ n }) => cited.has(n)),
    { former, again, canJudge: deps.judge?.canJudge() === true, now: deps.clock.now() },
  );
  return { claims, reportHash, former, due };
}

/** The first failure aborts the other pages, and is thrown once none of them is in progress. */
async function checkPages(deps: VerifyDeps, wanted: Verification, deadline: number): Promise<number> {
  const plan = await planOf(deps, wanted);
  const queue = plan.due.slice(0, wanted.maxPages);
  const total = queue.length;
  const failure = new AbortController();
  const signal = AbortSignal.any([wanted.signal, failure.signal]);
  let done = 0;
  if (total > 0) wanted.onProgress(done, total);
  const worker = async (): Promise<void> => {
    while (queue.length > 0 && deps.clock.monotonic() < deadline) {
      signal.throwIfAborted();
      const page = { ...plan, taskId: wanted.taskId, sources: queue.shift() ?? [], signal, deadline };
      if (await checkPage(deps, page)) wanted.onProgress((done += 1), total);
    }
  };
  const workers = Array.from({ length: MAX_CONCURRENT_PAGES }, () =>
    worker().catch((error: unknown) => failure.abort(error)),
  );
  await Promise.all(workers);
  signal.throwIfAborted();
  return plan.due.length - done;
}

interface Due {
  former: ReadonlyMap<number, FormerCheck>;
  again: boolean;
  canJudge: boolean;
  now: number;
}

/** Those never checked first, then the oldest checks. */
function duePages(sources: readonly Source[], { former, again, canJudge, now }: Due): Source[][] {
  const isDue = ({ n }: Source): boolean => {
    const check = former.get(n);
    if (check === undefined || again) return true;
    const age = now - check.checkedAt;
    if (canJudge && check.isUnjudged && (!check.isRefused || age > RECENTLY_REFUSED_MS)) return true;
    return age > (check.outcome === "unreachable" ? RECENTLY_UNREACHED_MS : RECENT_MS);
  };
  const byPage = Map.groupBy(sources.filter(isDue), ({ url, resolved_url }) => pageKey(resolved_url ?? url));
  const lastCheck = ([source]: Source[]): number => former.get(source?.n ?? 0)?.checkedAt ?? 0;
  return [...byPage.values()].toSorted((one, other) => lastCheck(one) - lastCheck(other));
}

interface CheckedSources extends JudgeLimits, Pick<Plan, "claims" | "reportHash" | "former"> {
  taskId: string;
  /** Sources with the same address. */
  sources: readonly Source[];
}

/** Returns false if claims are left to be judged. */
async function checkPage(deps: VerifyDeps, { sources, former, ...page }: CheckedSources): Promise<boolean> {
  const { taskId, reportHash, claims, signal, deadline } = page;
  const [first] = sources;
  if (first === undefined) return true;
  const reading = await readSource(deps, taskId, { source: first, signal });
  if (reading.outcome === "text") {
    const title = oneLine(reading.page.title);
    await saveSourceFacts(deps.db, taskId, new Map(sources.map(({ url }) => [url, { title }])));
  }
  let isAllComplete = true;
  for (const { n } of sources) {
    const citing = claims.filter((claim) => claim.sources.includes(n) && isCheckable(claim));
    const about = { taskId, source: n, claims: citing, former: former.get(n), limits: { signal, deadline } };
    const { evidence, isComplete, isRefused } = await evidenceOf(deps, reading, about);
    const check = { ...checkOf(n, reading), isRefused };
    await savePageCheck(deps.db, { taskId, reportHash }, { check, evidence, former: former.get(n) });
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
