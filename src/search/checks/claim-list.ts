/** The claims that a verification round is asked to check, most important first, and their text in its prompt. */

import type { Claim } from "../../claims/claim.ts";
import { claimText, isLoadBearing, type ReportClaims } from "./report-claims.ts";
import { verdictOn } from "./claim-verdict.ts";
import type { Finding } from "./finding.ts";

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
    const line = lineOf(claim, { pages, reason: verdictOn(claim, report.sources, findings)?.reason });
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

function lineOf(claim: Claim, { pages, reason }: { pages: number[]; reason: string | undefined }): string {
  const text = shortened(claimText(claim).replaceAll(/\s+/g, " "));
  const cited = pages.length === 0 ? "(no source)" : pages.map((n) => `[${n}]`).join(" ");
  return `${text} ${cited}${reason === undefined ? "" : ` – last check: ${reason}`}`;
}

function shortened(text: string): string {
  if (text.length <= MAX_CLAIM_CHARACTERS) return text;
  return `${text.slice(0, MAX_CLAIM_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "")}…`;
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
    .filter(({ claim }) => verdictOn(claim, sources, findings)?.verdict !== "supported")
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ claim }) => claim);
}

/** Contradictions first, then what carries the answer; within these, claims that no round has checked yet. */
function weightOf(claim: Claim, { claims, sources }: ReportClaims, findings: readonly Finding[]): number {
  const finding = verdictOn(claim, sources, findings);
  if (finding?.verdict === "contradicted") return 10;
  const importance = isLoadBearing(claim, claims) ? 4 : 2;
  const isCited = claim.sources.length > 0;
  if (!isCited) return importance === 4 ? 1 : 0;
  return importance + (finding === undefined ? 1 : 0);
}
