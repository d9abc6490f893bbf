/** The rounds of a `deep_search`: what is stored of each, how answers list them, and what they found out about claims. */

import { z } from "zod";
import { pageKey } from "../reports/web-address.ts";
import { type Source, unique } from "../reports/report.ts";
import { type Verification, VERIFICATION_METHODS } from "../reports/verification.ts";
import type { SavedRound, StoredResult } from "../runs/run.ts";
import { CUTS } from "../gemini/search-backend.ts";
import { shortened } from "../platform/clean-text.ts";
import { type Finding, findingSchema } from "../search/checks/check.ts";
import type { Round } from "../search/deep.ts";
import type { OperationDeps } from "./operation.ts";

/** What the continuation of a search needs of a round besides its text and sources. */
export const roundMetadata = ({
  model,
  searchSuggestions,
  incomplete,
  findings,
  method,
  isGrounded,
}: Round): Record<string, unknown> => ({
  model,
  ...(incomplete === false ? {} : { incomplete }),
  ...(isGrounded === false ? { ungrounded: true } : {}),
  ...(findings.length > 0 ? { findings } : {}),
  ...(method === undefined ? {} : { method }),
  ...(searchSuggestions.length > 0 ? { search_suggestions: searchSuggestions } : {}),
});

const method = z.enum(VERIFICATION_METHODS).exclude(["none"]).optional().catch(undefined);

const cut = z.enum(CUTS).or(z.literal(false)).catch(false);

export function storedRound(round: SavedRound): Round {
  const { model, incomplete, search_suggestions: suggestions, findings } = round.metadata;
  return {
    ...round,
    model: typeof model === "string" ? model : "auto-detected",
    incomplete: cut.parse(incomplete),
    isGrounded: round.metadata["ungrounded"] === true ? false : undefined,
    findings: z.array(findingSchema).catch([]).parse(findings),
    method: method.parse(round.metadata["method"]),
    searchSuggestions: z.array(z.string()).catch([]).parse(suggestions),
  };
}

export function roundLine(round: ReturnType<typeof roundsOf>[number]): string {
  const { round_number, source_numbers, sources_visited, search_queries, intermediate_result_summary: summary } = round;
  const sources = `sources ${rangesOf(source_numbers)} (${unique(sources_visited).join(", ")})`;
  return `- Round ${round_number}, ${sources}; queries: ${search_queries.join("; ")}. ${summary}`;
}

/** `1–3, 7` for 1, 2, 3 and 7: a round may have visited dozens of pages. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const n of numbers) {
    const last = ranges.at(-1);
    if (last?.to === n - 1) last.to = n;
    else ranges.push({ from: n, to: n });
  }
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

/** Names each source of a round by its site and its number, because their URLs are long and listed once already (U3). */
function sourceFields(numbers: readonly number[], sources: readonly Source[]) {
  const sites = new Map(sources.map(({ n, domain, url }) => [n, domain === "" ? url : domain]));
  return {
    sources_visited: unique(numbers.map((n) => sites.get(n) ?? "")),
    source_numbers: numbers.toSorted((a, b) => a - b),
  };
}

export function roundsOf(rounds: Round[], { sources, summaries }: { sources: readonly Source[]; summaries: string[] }) {
  const numbers = new Map(sources.map(({ n, url }) => [pageKey(url), n]));
  return rounds.map((round, index) => ({
    round_number: round.roundNumber,
    ...sourceFields([...new Set(round.sources.flatMap(({ url }) => numbers.get(pageKey(url)) ?? []))], sources),
    search_queries: unique(round.queries),
    intermediate_result_summary: summaries[index] ?? round.summary,
  }));
}

const NOT_VERIFIED = "Verification was not completed within the allowed rounds; this is the best result obtained.";

const MAX_QUOTED_CLAIMS = 3;
const MAX_CLAIM_CHARACTERS = 90;

interface Verified {
  verified: boolean;
  verification: Verification;
  /** Claims that carry the answer without being supported. */
  open: readonly string[];
}

/** None if the result was verified and every claim that carries it is supported. */
export const verificationNotes = (result: Verified): (string | undefined)[] => [
  result.verified ? undefined : NOT_VERIFIED,
  openNote(result),
];

function openNote({ verified, verification, open }: Verified): string | undefined {
  if (open.length === 0) return undefined;
  if (verification.method === "none") {
    return verified
      ? "Gemini called the result verified, but no claim was checked against the page it cites."
      : undefined;
  }
  const claims = open.length === 1 ? "1 claim that carries it is" : `${open.length} claims that carry it are`;
  const quoted = `${claims} not supported by a page that was opened: ${quotedClaims(open)}.`;
  return verified ? `Gemini called the result verified, but ${quoted}` : `Of the result, ${quoted}`;
}

/** Without its full stop, which the end of the note follows. */
const quoted = (claim: string): string =>
  shortened(claim.replaceAll(/\s+/g, " "), MAX_CLAIM_CHARACTERS).replace(/[.。]$/, "");

function quotedClaims(open: readonly string[]): string {
  const shown = open.slice(0, MAX_QUOTED_CLAIMS).map((claim) => `"${quoted(claim)}"`);
  const others = open.length - shown.length;
  return others === 0 ? shown.join(", ") : `${shown.join(", ")} and ${others} more`;
}

interface CheckedReport {
  taskId: string;
  /** As it is stored. */
  report: string;
  sources: Source[];
  /** Google's grounding supports of the report. */
  supports: StoredResult["supports"];
  findings: Finding[];
}

/** The report is stored already: a failure costs only the evidence, which is still part of the rounds. */
export async function saveReadEvidence(
  { database, log, clock }: OperationDeps,
  { taskId, report, sources, supports, findings }: CheckedReport,
): Promise<void> {
  if (findings.length === 0) return;
  try {
    const { evidenceOf } = await import("../search/checks/verification.ts");
    const evidence = evidenceOf(report, sources, findings);
    if (evidence.length === 0) return;
    const { claimsOfRun } = await import("../verification/claims-of-run.ts");
    const { saveEvidence } = await import("../verification/evidence-store.ts");
    const db = await database();
    // Evidence counts by the numbers of the stored claims.
    await claimsOfRun({ db, log }, { taskId, result: { report, sources, supports } });
    await saveEvidence(db, taskId, { kind: "read", evidence, now: clock.now() });
  } catch (error) {
    log.forRun(taskId).warn(`Evidence was not stored: ${error instanceof Error ? error.message : "unknown"}`);
  }
}
