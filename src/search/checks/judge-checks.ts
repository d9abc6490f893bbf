/**
 * Decides which of a model's checks the server accepts: the page must have been opened in the same call, the claim must
 * cite it, and figures, dates and polarity of claim and quote must agree.
 */

import type { Claim } from "../../claims/evidence.ts";
import { comparePage } from "../../claims/compare-page.ts";
import { disagreement } from "../../claims/conflict.ts";
import type { PagesRead } from "../correct-json.ts";
import type { Check, Finding } from "./check.ts";
import {
  citedSource,
  claimKey,
  type ClaimList,
  claimText,
  isPageOf,
  isSameAddress,
  keyOf,
  type ReportClaims,
} from "./report-claims.ts";

interface CheckedRound {
  checks: readonly Check[];
  /** The claims and pages that the round was given. */
  list: ClaimList;
  /** The report that the round returned. */
  report: ReportClaims;
  pages: PagesRead;
}

/** Findings about claims of the updated report. A claim that the update dropped needs none. */
export function judgeChecks(round: CheckedRound): Finding[] {
  return round.checks.flatMap((check) => {
    if (typeof check.claim === "string") return judgeNew(check, check.claim, round);
    const listed = round.list.claims[check.claim - 1];
    if (listed === undefined) return [];
    const key = claimKey(listed.claim);
    const same = round.report.claims.filter((claim) => claimKey(claim) === key);
    const found = same.flatMap((claim) => judge(check, claim, round) ?? []);
    return found.length > 0 ? found.slice(0, 1) : judgeReworded(check, listed.claim, round);
  });
}

/** A sentence that the round itself wrote, named by its first words; ignored if several begin with them. */
function judgeNew(check: Check, words: string, round: CheckedRound): Finding[] {
  const start = keyOf(words.replace(/(?:…|\.{3})\s*$/, ""));
  const [claim, ...others] = round.report.claims.filter(
    (each) => claimKey(each).startsWith(start) || keyOf(each.text).startsWith(start),
  );
  if (claim === undefined || others.length > 0) return [];
  return [judge(check, claim, round) ?? []].flat();
}

type Judgement = Pick<Finding, "verdict" | "reason" | "says">;

function judge(check: Check, claim: Claim, { list, report, pages }: CheckedRound): Finding | undefined {
  const url = urlOf(check, claim, { list, report });
  if (url === undefined) return undefined;
  const judgement = judgementOn(check, claim, { url, report, pages });
  return { claim: claimKey(claim), url, ...judgement, ...quoteOf(check) };
}

const quoteOf = ({ quote }: Check): Pick<Finding, "quote"> => (quote === "" ? {} : { quote });

/** The page that the check names; else the only one that the claim cites. */
function urlOf({ page }: Check, claim: Claim, { list, report }: Pick<CheckedRound, "list" | "report">) {
  if (typeof page === "string") return page;
  if (page !== undefined) return list.pages[page - 1];
  const [only, ...others] = claim.sources;
  return others.length > 0 ? undefined : report.sources.find(({ n }) => n === only)?.url;
}

interface Circumstances {
  url: string;
  report: ReportClaims;
  pages: PagesRead;
}

function judgementOn(check: Check, claim: Claim, { url, report, pages }: Circumstances): Judgement {
  const source = citedSource(claim, report.sources, url);
  if (source === undefined) return notFound("The claim does not cite the page.");
  const isPage = (address: string): boolean => isSameAddress(address, url) || isPageOf(source, address);
  if (!pages.opened.some(isPage)) {
    const wasRefused = pages.unread.some(isPage) || check.verdict === "unreadable";
    return wasRefused
      ? { verdict: "unreadable", reason: "The page could not be opened." }
      : notFound("The page was not opened.");
  }
  if (check.verdict === "unsupported") return notFound("The page does not say it.");
  if (check.verdict === "unreadable" || check.quote === "") return notFound("No passage was quoted.");
  if (check.verdict === "contradicted") return { verdict: "conflict", reason: "The page contradicts it." };
  const compared = comparePage(claim, { title: "", blocks: [check.quote] });
  if (compared.verdict === "conflict") return { verdict: "conflict", reason: compared.reason, says: compared.pageSays };
  const reason = disagreement(claimText(claim), check.quote);
  if (reason !== undefined) return notFound(reason);
  if (check.verdict === "weak") return notFound("The page says only a part of it.");
  return sharesWords(claimText(claim), check.quote)
    ? { verdict: "likely" }
    : notFound("The quoted passage has other words.");
}

const notFound = (reason: string): Judgement => ({ verdict: "not_found", reason });

/**
 * The model corrected the sentence according to its quote. Its verdict was about the old wording, so the new one counts
 * only as far as the quote itself proves it.
 */
function judgeReworded(check: Check, before: Claim, round: CheckedRound): Finding[] {
  if (check.quote === "") return [];
  const earlier = new Set(round.list.claims.map(({ claim }) => claimKey(claim)));
  const reworded = round.report.claims.find(
    (claim) => !earlier.has(claimKey(claim)) && isRewording(claimText(before), claimText(claim)),
  );
  if (reworded === undefined) return [];
  const found = judge({ ...check, verdict: "supported" }, reworded, round);
  if (found?.verdict !== "likely") return found === undefined ? [] : [found];
  const { verdict, reason } = comparePage(reworded, { title: "", blocks: [check.quote] });
  return [verdict === "confirmed" ? found : { ...found, verdict, ...(reason === undefined ? {} : { reason }) }];
}

/** Words of at least four letters, numbers, and pairs of characters in scripts without spaces. */
const CONTENT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2}|\p{N}+(?:[.,]\p{N}+)*|\p{L}{4,}/gu;
/** Inflected forms of a word share its beginning. */
const STEM_CHARACTERS = 5;

const stemsOf = (text: string): Set<string> =>
  new Set([...text.toLowerCase().matchAll(CONTENT)].map(([word]) => word.slice(0, STEM_CHARACTERS)));

function sharedPart(one: string, other: string): number {
  const [first, second] = [stemsOf(one), stemsOf(other)];
  if (first.size === 0) return 0;
  return [...first].filter((stem) => second.has(stem)).length / first.size;
}

/** A paraphrase keeps names and terms; a sentence with hardly any of them is about something else. */
const MIN_SHARED_WITH_QUOTE = 0.25;
const MIN_SHARED_WITH_REWORDING = 0.5;

const sharesWords = (claim: string, quote: string): boolean => sharedPart(claim, quote) >= MIN_SHARED_WITH_QUOTE;

const isRewording = (before: string, after: string): boolean =>
  Math.min(sharedPart(before, after), sharedPart(after, before)) >= MIN_SHARED_WITH_REWORDING;
