/** The simulated model's research: search queries, a report that cites invented pages, and a verdict. */

import type { PromptReading } from "./prompt.ts";
import type { TaskKind } from "../scenario.ts";
import { searchAll, type Page } from "../web.ts";

export interface Research {
  report: string;
  verified: boolean;
  pages: Page[];
  queries: string[];
  /** Answers about the claims that the prompt lists. */
  checks: ClaimCheck[];
}

interface ClaimCheck {
  claim: number | string;
  verdict: string;
  page: number | string;
  quote: string;
}

const PERSPECTIVES: Partial<Record<TaskKind, readonly string[]>> = {
  deep_search: ["facts", "history and causes", "criticism", "figures in practice", "latest news"],
  research_report: ["overview", "evidence", "disputed points"],
};

const FOOTER = "*Simulated by gemini-search-mcp: pages and figures are invented.*";

const CITED_PAGES = 6;

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 120);
}

function perspectives({ kind, round }: PromptReading): readonly string[] {
  // Each round searches for something new, as a real verification does.
  if (kind === "verify") return [`evidence, check ${round ?? 2}`, `counter-evidence, check ${round ?? 2}`];
  return PERSPECTIVES[kind] ?? [""];
}

export function queriesFor(reading: PromptReading): string[] {
  const topic = oneLine(reading.question).replace(/[?!.]+$/, "") || "an unnamed topic";
  return perspectives(reading).map((words) => `${topic} ${words}`.trim());
}

/** Selects pages evenly, so that each perspective is cited. */
function cited(pages: readonly Page[]): Page[] {
  const stride = Math.ceil(pages.length / CITED_PAGES);
  return pages.filter((_, index) => index % stride === 0);
}

function evidence(pages: readonly Page[]): string {
  return cited(pages)
    .map((page) => `- ${page.snippet} ([${page.title}](${page.url}))`)
    .join("\n");
}

function firstReport(question: string, pages: readonly Page[]): string {
  const subject = oneLine(question) || "An unnamed topic";
  const [first] = pages;
  const answer = first === undefined ? "Nothing was found." : `${first.snippet} ([${first.title}](${first.url}))`;
  return [
    `# ${subject}`,
    `**In short:** ${answer} Most sources call this "settled" – one still disagrees.`,
    "## Evidence",
    evidence(pages),
    FOOTER,
  ].join("\n\n");
}

/** A verification keeps the given report and appends its findings, so that rounds visibly build on each other. */
function checkedReport(reading: PromptReading, pages: readonly Page[]): string {
  const before = reading.currentResult?.replaceAll(FOOTER, "").trim();
  if (before === undefined || before === "") return firstReport(reading.question, pages);
  const heading = `## Checked in round ${reading.round ?? 2}`;
  return [before, heading, evidence(pages), FOOTER].join("\n\n");
}

/** The invented pages say exactly what the report cites them for. */
function checksOf({ claims }: PromptReading, pages: readonly Page[]): ClaimCheck[] {
  if (claims === undefined) return [];
  const listed = claims.flatMap(({ n, text, pages: [page] }) =>
    page === undefined
      ? []
      : [{ claim: n, verdict: "supported", page: page.n, quote: text.replace(/^In short: /, "") }],
  );
  const added = cited(pages).map(({ snippet, url }) => ({
    claim: snippet.split(" ").slice(0, 6).join(" "),
    verdict: "supported",
    page: url,
    quote: snippet,
  }));
  return [...listed, ...added];
}

export interface Findings {
  queries: string[];
  pages: Page[];
}

export function findOnTheWeb(reading: PromptReading): Findings {
  const queries = queriesFor(reading);
  return { queries, pages: searchAll(queries) };
}

export function writeResearch(reading: PromptReading, { queries, pages }: Findings): Research {
  const isCheck = reading.kind === "verify";
  const report = isCheck ? checkedReport(reading, pages) : firstReport(reading.question, pages);
  return { report, verified: isCheck, pages, queries, checks: checksOf(reading, pages) };
}
