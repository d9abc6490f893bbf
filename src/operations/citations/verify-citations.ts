/** `verify_citations`: on the user's request, fetches the pages that a report cites and compares them with its claims. */

import { z } from "zod";
import {
  bySeverity,
  displayedClaim,
  saysInstead,
  type Verdict,
  verdictLabel,
  VERDICTS,
} from "../../claims/evidence.ts";
import { cancelled } from "../../gemini/failures.ts";
import { isoTime } from "../../platform/clock.ts";
import type { Source } from "../../reports/report.ts";
import type { StoredResult } from "../../runs/run.ts";
import { isReached, type PageCheck } from "../../verification/page-check.ts";
import {
  type CitationsSummary,
  type CitedPair,
  type ClaimStanding,
  summariseCitations,
} from "../../verification/standing.ts";
import type { VerifyDeps } from "../../verification/verify.ts";
import {
  type Call,
  defineOperation,
  flagField,
  type OperationDeps,
  type OutputOf,
  outputSchema,
  taskIdField,
} from "../operation.ts";
import { factLines, list } from "../parts/answer-text.ts";
import { AppError } from "../../errors.ts";
import { finishedReport } from "../parts/after-failure.ts";
import type { Unjudged } from "./judge-use.ts";
import type { Database } from "../../store/database.ts";

/** An answer must come before clients give up, some after 60 s; the next call continues where this one stopped. */
const MODEL_LIMITS = { maxPages: 24, maxMs: 40_000, findings: 15 };
/** At a terminal a person sees the progress, and can stop it. */
const PERSON_LIMITS = { maxPages: 1_000, maxMs: 20 * 60_000, findings: 1_000 };

const MAX_NUMBERS = 200;
const NO_NUMBERS = "{numbers} must be a list of source numbers.";
const MAX_NUMBER = 99_999;
const MAX_CLAIM_CHARACTERS = 400;

const countField = z.looseObject({}).describe("Claims by their best verdict.");

export const verifyCitations = defineOperation({
  name: "verify_citations",
  title: "Verify citations",
  description:
    "Costs at most $0.05 and takes a minute: compares a report with the pages it cites. Only on the user's request; call again for the rest. Returns counts and claims not confirmed.",
  input: z.strictObject({
    task_id: taskIdField,
    numbers: z
      .array(z.int({ error: NO_NUMBERS }).min(1, { error: NO_NUMBERS }).max(MAX_NUMBER, { error: NO_NUMBERS }), {
        error: NO_NUMBERS,
      })
      .refine(({ length }) => length > 0 && length <= MAX_NUMBERS, {
        error: `{numbers} must have 1 to ${MAX_NUMBERS} source numbers.`,
      })
      .optional()
      .describe("Only these sources."),
    refetch: flagField("refetch").optional().describe("Fetch again."),
  }),
  output: outputSchema({
    message: z.string(),
    counts: countField,
    pages: z.looseObject({}),
    findings: z.array(z.looseObject({})),
    note: z.string(),
    not_judged: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  positional: "task_id",
  webText: ["findings"],
  run: async (deps, input, call) => {
    const { run, result } = await finishedReport(await deps.database(), call.owner, input.task_id);
    requireSources(result, input.numbers);
    const verification = await deps.verification();
    const wanted = {
      taskId: run.taskId,
      result,
      numbers: input.numbers,
      again: input.refetch === true,
      ...limitsOf(call),
    };
    const done = await verify(deps, verification, { wanted, call });
    return answerOf(deps, verification, { ...wanted, ...done, isPartial: result.partial });
  },
  toText: ({ message, counts, pages, findings, note, not_judged: unjudged, success: _success, ...facts }) =>
    [
      message,
      factLines({ counts, pages }),
      ...list("Findings", findings.map(findingLine)),
      ...(note === undefined ? [] : [note]),
      ...(unjudged === undefined ? [] : [unjudged]),
      factLines(facts),
    ].join("\n\n"),
});

function requireSources({ sources }: StoredResult, numbers: readonly number[] = []): void {
  const known = new Set(sources.map(({ n }) => n));
  const unknown = numbers.filter((n) => !known.has(n));
  if (unknown.length === 0) return;
  const last = Math.max(0, ...known);
  throw new AppError({
    code: "INVALID_INPUT",
    message: `This report has no source ${unknown.join(", ")}.`,
    suggestion: known.size === 0 ? "It has no sources." : `Its sources are numbered 1 to ${last}.`,
    details: { field: "numbers" },
  });
}

export type CitationsAnswer = OutputOf<typeof verifyCitations>;

const limitsOf = ({ wholeReports }: Call) => (wholeReports === true ? PERSON_LIMITS : MODEL_LIMITS);

interface Wanted {
  taskId: string;
  result: StoredResult;
  numbers: number[] | undefined;
  again: boolean;
  maxPages: number;
  maxMs: number;
}

interface Done {
  /** Pages that are still to be checked. */
  left: number;
  unjudged: Unjudged;
}

async function verify(
  deps: OperationDeps,
  verification: VerifyDeps,
  { wanted, call }: { wanted: Wanted; call: Call },
): Promise<Done> {
  const { verifyCitations: check } = await import("../../verification/verify.ts");
  const { collectUnjudged, judgeNotice } = await import("./judge-use.ts");
  const { judge, unjudged } = collectUnjudged(verification.judge);
  const signal = AbortSignal.any([call.signal, deps.leaving]);
  const onProgress = (done: number, of: number): void =>
    call.progress(
      done === 0 ? `Checking ${of} cited pages${judgeNotice(deps.settings)}` : `${done} of ${of} cited pages tried`,
    );
  const onWait = (): void => call.progress("Waiting for another check of this report");
  try {
    const left = await check({ ...verification, judge }, { ...wanted, signal, onProgress, onWait });
    return { left, unjudged };
  } catch (error) {
    throw signal.aborted ? cancelled() : error;
  }
}

interface Answered extends Wanted, Done {
  isPartial: boolean;
  /** Findings that the answer lists. */
  findings: number;
}

async function answerOf({ settings }: OperationDeps, deps: VerifyDeps, wanted: Answered) {
  const { taskId, result, numbers, left, unjudged } = wanted;
  const { readCitations } = await import("../../verification/read-citations.ts");
  const { readJudgeUse, unjudgedField } = await import("./judge-use.ts");
  const { claims, counts, checks, cited, copies, independentDomains } = await readCitations(deps, wanted);
  const judge = await readJudgeUse(deps.db, taskId, settings);
  const checked = cited.flatMap(({ n }) => checks.get(n) ?? []);
  const notFetched = checked.filter(({ outcome }) => outcome === "not_checked");
  const notReached = checked.filter(({ outcome }) => outcome === "unreachable");
  const isAnyReached = checked.length === 0 || checked.some(isReached);
  // Each finding would be the same obstacle, which the message names once.
  const isObstructed = !isAnyReached && numbers === undefined;
  const found = isObstructed ? [] : findingsIn(claims, { numbers, sources: result.sources });
  const shown = found.slice(0, wanted.findings);
  return {
    success: true,
    task_id: taskId,
    message: isObstructed ? nothingReached(checked, left) : messageFor(claims, { left, notFetched }),
    counts,
    attached_by_google: claims.filter(({ claim }) => claim.googleSources.length > 0).length,
    pages: {
      cited: cited.length,
      checked: checked.length - notFetched.length - notReached.length,
      ...(notReached.length > 0 ? { not_reached: notReached.length } : {}),
      ...(notFetched.length > 0 ? { not_fetched: notFetched.length } : {}),
      left,
    },
    independent_domains: independentDomains.length,
    ...(copies.length > 0 ? { copies } : {}),
    findings: shown,
    ...noteFor({
      hidden: found.length - shown.length,
      left,
      isUncertain: shown.some(({ verdict }) => verdict === "not_found"),
    }),
    ...unjudgedField(unjudged),
    ...(judge === undefined ? {} : { judge }),
  };
}

const NOT_FINDINGS: readonly Verdict[] = ["confirmed", "likely", "not_checked"];

/** What a reader should know first: conflicts, then what is not confirmed; with `numbers` every pair of them. */
function findingsIn(
  all: readonly ClaimStanding[],
  { numbers, sources }: { numbers: readonly number[] | undefined; sources: readonly Source[] },
) {
  const isShown = (standing: ClaimStanding, pair: CitedPair): boolean => {
    if (numbers !== undefined) return numbers.includes(pair.source);
    return standing.verdict === pair.verdict && !NOT_FINDINGS.includes(pair.verdict);
  };
  const pairs = all.flatMap((standing) =>
    standing.pairs.filter((pair) => isShown(standing, pair)).map((pair) => ({ claim: standing.claim, pair })),
  );
  return pairs
    .toSorted((one, other) => bySeverity(one.pair, other.pair))
    .map(({ claim, pair }) => ({
      claim: claim.n,
      text: cut(displayedClaim(claim)),
      source: pair.source,
      verdict: pair.verdict,
      ...(pair.reason === undefined ? {} : { reason: pair.reason }),
      ...(pair.pageSays === undefined ? {} : { page_says: pair.pageSays }),
      ...(pair.passage === undefined ? {} : { passage: pair.passage }),
      ...(pair.probability === undefined ? {} : { probability: pair.probability }),
      ...(pair.judged === true ? { judged: true } : {}),
      ...(pair.kind === "read" ? { read_by_gemini: true } : {}),
      ...(numbers === undefined ? {} : checkedFields(pair, sources)),
    }));
}

const checkedFields = ({ checkedAt, source }: CitedPair, sources: readonly Source[]) => ({
  ...(checkedAt === undefined ? {} : { checked_at: isoTime(checkedAt) }),
  domain: sources.find(({ n }) => n === source)?.domain,
});

const cut = (text: string): string =>
  text.length <= MAX_CLAIM_CHARACTERS ? text : `${text.slice(0, MAX_CLAIM_CHARACTERS).toWellFormed()}…`;

/** An obstacle here, such as a missing network, or at all sites: by cause, the most frequent first. */
function nothingReached(pages: readonly PageCheck[], left: number): string {
  const causes = Map.groupBy(pages, ({ reason = "No reason is known." }) => reason);
  const lines = [...causes]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, MAX_CAUSES)
    .map(([reason, of]) => `${of.length} ${of.length === 1 ? "page" : "pages"}: ${reason}`);
  return `No page could be reached; nothing was checked. ${lines.join(" ")}${leftText(left)}`;
}

const MAX_CAUSES = 4;

const leftText = (left: number): string =>
  left === 0 ? "" : ` ${left} cited ${left === 1 ? "page is" : "pages are"} left to check.`;

function messageFor(
  all: readonly ClaimStanding[],
  { left, notFetched }: { left: number; notFetched: readonly PageCheck[] },
): string {
  const cited = all.filter(({ verdict }) => verdict !== undefined);
  if (cited.length === 0) return "This report has no sentence that cites a source, so there is nothing to check.";
  const count = (sought: Verdict): number => cited.filter(({ verdict }) => verdict === sought).length;
  const [conflicts, confirmed, likely] = [count("conflict"), count("confirmed"), count("likely")];
  const open = cited.length - conflicts - confirmed - likely;
  const isOne = conflicts === 1 ? "is" : "are";
  const first =
    conflicts > 0
      ? `${conflicts} of ${cited.length} cited sentences ${isOne} in conflict with a page: ${confirmed} confirmed`
      : `${confirmed} of ${cited.length} cited sentences are confirmed`;
  return `${first}, ${likely} likely, ${open} open.${notFetchedText(notFetched)}${leftText(left)}`;
}

function notFetchedText(pages: readonly PageCheck[]): string {
  if (pages.length === 0) return "";
  const reasons = [...new Set(pages.flatMap(({ reason }) => reason ?? []))];
  const why = reasons.length === 0 ? "." : `: ${reasons.slice(0, MAX_REASONS).join(" ")}`;
  return ` ${pages.length} cited ${pages.length === 1 ? "page was" : "pages were"} not fetched${why}`;
}

const MAX_REASONS = 2;

function noteFor({ hidden, left, isUncertain }: { hidden: number; left: number; isUncertain: boolean }): {
  note?: string;
} {
  const notes = [
    ...(isUncertain ? ["not_found does not count against a claim: the page may say it in other words."] : []),
    ...(left > 0 ? ["Call again to check the pages that are left."] : []),
    ...(hidden > 0 ? [`${hidden} more findings: ask for the sources of interest with numbers.`] : []),
  ];
  return notes.length === 0 ? {} : { note: notes.join(" ") };
}

interface FindingText {
  claim: number;
  text: string;
  source: number;
  verdict: string;
  reason?: string;
  page_says?: string;
  passage?: string;
}

const findingLine = ({
  claim,
  text,
  source,
  verdict,
  reason,
  page_says: says,
  passage,
  ...rest
}: FindingText): string =>
  [
    `- ${verdict} (claim ${claim}, source ${source}): ${text}`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...(says === undefined ? [] : [`  The page says: ${says}`]),
    ...(passage === undefined ? [] : [`  “${passage}”`]),
    ...(Object.keys(rest).length === 0 ? [] : [`  ${factLines(rest).replaceAll("\n", ", ")}`]),
  ].join("\n");

export const citationsCheckedField = z
  .looseObject({ claims: z.number() })
  .describe("Claims by verdict, once verify_citations has checked them.");

interface StoredReport {
  taskId: string;
  report: string;
}

/** Damaged evidence must not cost the report. */
export const checkedCitations = (db: Database, report: StoredReport): Promise<CitationsSummary | undefined> =>
  summariseCitations(db, report).catch(() => undefined);

/** The conflicts of the summary, each as one line. */
export const conflictLines = (summary: CitationsSummary | undefined): string[] =>
  (summary?.conflicts ?? []).map(
    ({ text, source, page_says: says, passage }) =>
      `- Source ${source}: ${text}${says === undefined ? "" : ` ${saysInstead(says)}`}${passage === undefined ? "" : ` “${passage}”`}`,
  );

/** As one line. */
export function summaryLine(summary: CitationsSummary): string {
  const verdicts = VERDICTS.flatMap((verdict) =>
    summary[verdict] === undefined ? [] : [`${summary[verdict]} ${verdictLabel(verdict)}`],
  );
  return `${summary.claims} claims: ${verdicts.join(", ")}`;
}
