/**
 * The claims of a round's report, with every page that it links as a source: which finding counts for each, which URLs are
 * one page, and which claims the next round is asked to check, most important first.
 */

import { type Claim, isCheckable, type Verdict } from "../../claims/evidence.ts";
import { splitClaims } from "../../claims/split-claims.ts";
import type { VisitedSource } from "../../gemini/search-backend.ts";
import { shortened } from "../../platform/clean-text.ts";
import { linkedSources } from "../../reports/document/document.ts";
import { isRedirect, numberSources, type Source } from "../../reports/report.ts";
import type { SourceAddress } from "../../reports/independent-domains.ts";
import type { Finding } from "./check.ts";
import { pageKey } from "../../reports/web-address.ts";

export interface ReportClaims {
  claims: Claim[];
  /** The visited pages and then those that the report links although no tool reported them. */
  sources: Source[];
}

export function claimsOf(report: string, visited: readonly VisitedSource[]): ReportClaims {
  const sources = numberSources([...visited, ...linkedSources(report)]);
  return { claims: splitClaims({ report, sources }).filter(isCheckable), sources };
}

/** A claim as a reader understands it alone: with the heads of its table row or the label of its list item. */
export const claimText = ({ context, text }: Claim): string => [...context, text].join(": ");

/** Equal for a claim that an update of the report left unchanged, apart from its citations. */
export const claimKey = (claim: Claim): string => keyOf(claimText(claim));

export const keyOf = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}.,%-]+/gu, " ")
    .trim()
    .toLowerCase();

/** The answer usually opens the report, under its title. */
const OPENING_CLAIMS = 5;

/** A claim without which the answer falls: it has a figure or a date, or it is cited and opens the report. */
export function isLoadBearing(claim: Claim, claims: readonly Claim[]): boolean {
  if (/\p{N}/u.test(claim.text)) return true;
  const isOpening = claims.indexOf(claim) < OPENING_CLAIMS && claim.headings.length <= 1;
  return isOpening && claim.sources.length > 0;
}

/** A conflict counts more than support by another page: readers must see that the sources disagree. */
const ORDER: readonly Verdict[] = ["conflict", "likely", "not_found", "unreadable"];

/** The finding that counts for a claim of the current report: of each page it cites the latest, and of these the strongest. */
export function verdictOn(claim: Claim, sources: readonly Source[], findings: readonly Finding[]): Finding | undefined {
  const key = claimKey(claim);
  const latest = new Map<string, Finding>();
  for (const finding of findings) {
    if (finding.claim === key && citedSource(claim, sources, finding.url) !== undefined)
      latest.set(finding.url, finding);
  }
  return [...latest.values()].toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict))[0];
}

/** The source of the claim that this URL belongs to. */
export const citedSource = (claim: Claim, sources: readonly Source[], url: string): Source | undefined =>
  sources.find((source) => claim.sources.includes(source.n) && isPageOf(source, url));

/** Google reports a page under the address that it was redirected to, often with another scheme or `www.`. */
const addressKey = (url: string): string =>
  pageKey(url)
    .replace(/^http:/, "https:")
    .replace("@www.", "@");

export const isSameAddress = (one: string, other: string): boolean => addressKey(one) === addressKey(other);

/**
 * A redirect link that was not resolved stands for any page of the domain in its title: Google names the domain, and
 * reports the page itself only under its own address.
 */
export function isPageOf({ url, resolved_url: resolved, domain }: SourceAddress, address: string): boolean {
  if (isSameAddress(url, address) || (resolved !== undefined && isSameAddress(resolved, address))) return true;
  return isRedirect(url) && resolved === undefined && isOnDomain(address, domain);
}

function isOnDomain(address: string, domain: string): boolean {
  if (domain === "" || isRedirect(`https://${domain}`) || !URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  const bare = domain.replace(/^www\./, "").toLowerCase();
  return hostname === bare || hostname.endsWith(`.${bare}`);
}

interface ListedClaim {
  claim: Claim;
  /** Numbers of its pages in the list. */
  pages: number[];
}

export interface ClaimList {
  /** The first one has number 1. */
  claims: ListedClaim[];
  /** URLs; the first one has number 1. */
  pages: string[];
  text: string;
}

/** More would crowd out the search for evidence against the answer; the next round gets the rest. */
const MAX_CLAIMS = 10;
const MAX_CHARACTERS = 2_600;
/** The sentence itself is in the result above. */
const MAX_CLAIM_CHARACTERS = 180;
const MAX_PAGES_PER_CLAIM = 2;
/** Longer URLs cost more than the check is worth. */
const MAX_URL_CHARACTERS = 600;

export function listClaims(report: ReportClaims, findings: readonly Finding[]): ClaimList {
  const list: ClaimList = { claims: [], pages: [], text: "" };
  const lines: string[] = [];
  let characters = 0;
  for (const claim of openClaims(report, findings)) {
    if (list.claims.length === MAX_CLAIMS) break;
    const urls = citedUrls(claim, report).filter((url) => !list.pages.includes(url));
    const pages = citedUrls(claim, report).map((url) => numberOf(url, list.pages, urls));
    const line = lineOf(claim, { pages, finding: verdictOn(claim, report.sources, findings) });
    const added = line.length + urls.reduce((sum, url) => sum + url.length + 6, 0);
    if (characters + added > MAX_CHARACTERS) continue;
    characters += added;
    list.pages.push(...urls);
    list.claims.push({ claim, pages });
    lines.push(`${list.claims.length}. ${line}`);
  }
  list.text = textOf(lines, list.pages);
  return list;
}

const numberOf = (url: string, known: readonly string[], added: readonly string[]): number =>
  [...known, ...added].indexOf(url) + 1;

function textOf(lines: readonly string[], pages: readonly string[]): string {
  if (lines.length === 0) return "None: a page was quoted for every claim.";
  const addresses = pages.map((url, index) => `[${index + 1}] ${url}`);
  return [...lines, ...(addresses.length === 0 ? [] : ["", "Pages:", ...addresses])].join("\n");
}

function lineOf(claim: Claim, { pages, finding }: { pages: number[]; finding: Finding | undefined }): string {
  const text = shortened(claimText(claim).replaceAll(/\s+/g, " "), MAX_CLAIM_CHARACTERS);
  const cited = pages.length === 0 ? "(no source)" : pages.map((n) => `[${n}]`).join(" ");
  const { verdict, reason, says, quote } = finding ?? {};
  if (reason === undefined) return `${text} ${cited}`;
  // The passage, so that the next round corrects the sentence instead of repeating it.
  const passage =
    verdict === "conflict" && quote !== undefined ? ` The page: "${shortened(quote, MAX_CLAIM_CHARACTERS)}"` : "";
  return `${text} ${cited} – last check: ${reason}${says === undefined ? "" : ` It says ${says}.`}${passage}`;
}

function citedUrls({ sources: numbers }: Claim, { sources }: ReportClaims): string[] {
  const urls = numbers.flatMap((n) => sources.find((source) => source.n === n)?.url ?? []);
  return urls.filter((url) => url.length <= MAX_URL_CHARACTERS).slice(0, MAX_PAGES_PER_CLAIM);
}

/** Claims without accepted evidence. A claim without a source is listed if the answer depends on it. */
function openClaims(report: ReportClaims, findings: readonly Finding[]): Claim[] {
  const { claims, sources } = report;
  return claims
    .map((claim) => ({ claim, weight: weightOf(claim, report, findings) }))
    .filter(({ claim }) => verdictOn(claim, sources, findings)?.verdict !== "likely")
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ claim }) => claim);
}

/** Conflicts first, then what carries the answer; within these, claims that no round has checked yet. */
function weightOf(claim: Claim, { claims, sources }: ReportClaims, findings: readonly Finding[]): number {
  const finding = verdictOn(claim, sources, findings);
  if (finding?.verdict === "conflict") return 10;
  const importance = isLoadBearing(claim, claims) ? 4 : 2;
  const isCited = claim.sources.length > 0;
  if (!isCited) return importance === 4 ? 1 : 0;
  return importance + (finding === undefined ? 1 : 0);
}
