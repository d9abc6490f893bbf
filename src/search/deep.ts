/**
 * Runs the rounds of a deep search: first five perspectives, then verification until Gemini confirms the result. Each
 * verification is given the claims that no page supports yet, and the server judges what it answers about them.
 */

import { AppError } from "../errors.ts";
import type { Cut, GroundedSegment, VisitedSource } from "../gemini/search-backend.ts";
import { beginningOf } from "../platform/clean-text.ts";
import type { Verification, VerificationMethod } from "../reports/verification.ts";
import { executeResearchWithCorrection, type Research, type SearchCall, type SearchDeps } from "./correct-json.ts";
import { type ClaimList, claimsOf, listClaims } from "./checks/report-claims.ts";
import type { Finding } from "./checks/check.ts";
import { judgeChecks } from "./checks/judge-checks.ts";
import { verificationOf } from "./checks/verification.ts";
import { DEEP_SEARCH_SCHEMA, VERIFY_SCHEMA } from "./schemas.ts";
import type { Wishes } from "./wishes.ts";

export interface Round {
  roundNumber: number;
  report: string;
  verified: boolean;
  summary: string;
  sources: VisitedSource[];
  queries: string[];
  /** Google's Search Suggestions for this round, as HTML. */
  searchSuggestions: string[];
  /** Google's grounding supports of the report; undefined for a round of an earlier process. */
  supports?: GroundedSegment[] | undefined;
  /** Why the report is truncated. */
  incomplete: Cut | false;
  model: string;
  /** Undefined if the backend cannot tell. */
  isGrounded: boolean | undefined;
  /** What the server accepted of the round's checks of single claims. */
  findings: Finding[];
  /** How the round opened the pages of its checks; undefined if it checked no claim. */
  method?: Exclude<VerificationMethod, "none"> | undefined;
}

interface DeepSearch {
  query: string;
  wishes?: Wishes | undefined;
  maxRounds: number;
  /** Awaited before the next round starts, so that every finished round is stored. */
  onRound: (round: Round) => Promise<void>;
  /** Rounds of an interrupted search that this one continues. */
  earlier?: Round[];
}

interface DeepSearchResult {
  best: Round;
  verified: boolean;
  iterations: number;
  rounds: Round[];
  verification: Verification;
  /** Claims of the result that carry the answer and that no page was found to support. */
  open: string[];
  /** Why it ended before its last round. */
  stopped: string | undefined;
}

interface Progress {
  iterations: number;
  rounds: Round[];
  /** Why no further round is made: the message of a budget's refusal. */
  stopped?: string;
}

export async function deepSearch(deps: SearchDeps, search: DeepSearch, call: SearchCall): Promise<DeepSearchResult> {
  const { earlier = [] } = search;
  let progress: Progress = { iterations: earlier.length, rounds: earlier };
  while (!isDone(progress, search.maxRounds)) {
    progress = await nextRound(deps, { search, progress }, call);
  }
  const best = latest(progress);
  if (best === undefined) throw new Error("A deep search ended without a first round.");
  const { iterations, rounds, stopped } = progress;
  deps.log.info(`Deep search completed: ${iterations} rounds, verified: ${best.verified}`);
  const { verified } = best;
  return { best, verified, iterations, rounds, stopped, ...verificationOf(verifiedReport(progress, best)) };
}

const visitedIn = ({ rounds }: Progress): VisitedSource[] => rounds.flatMap(({ sources }) => sources);

const findingsIn = ({ rounds }: Progress): Finding[] => rounds.flatMap(({ findings }) => findings);

const verifiedReport = (progress: Progress, { report }: Round) => ({
  report,
  visited: visitedIn(progress),
  findings: findingsIn(progress),
  method: progress.rounds.findLast(({ method }) => method !== undefined)?.method ?? ("none" as const),
});

/** No result is verified above a sentence that its own page contradicts: the next round's prompt has what the page says. */
const hasConflict = ({ iterations, rounds }: Progress, round: Round): boolean =>
  verificationOf(verifiedReport({ iterations, rounds: [...rounds, round] }, round)).verification.conflict > 0;

const latest = (progress: Progress): Round | undefined => progress.rounds.at(-1);

const isDone = (progress: Progress, maxRounds: number): boolean =>
  progress.iterations >= maxRounds || progress.stopped !== undefined || latest(progress)?.verified === true;

async function nextRound(
  deps: SearchDeps,
  { search, progress }: { search: DeepSearch; progress: Progress },
  call: SearchCall,
): Promise<Progress> {
  const roundNumber = progress.iterations + 1;
  const current = latest(progress);
  deps.log.info(`Deep search round ${roundNumber}/${search.maxRounds}...`);
  call.onRoundStart(
    current === undefined
      ? `Round ${roundNumber} of at most ${search.maxRounds}: searching from five perspectives`
      : `Round ${roundNumber} of at most ${search.maxRounds}: verifying`,
  );
  try {
    const { list, ...question } = questionFor(deps, { search, progress });
    const research = await executeResearchWithCorrection(deps, question, call);
    const checked = list === undefined ? NO_CHECKS : checkedClaims(research, { list, progress });
    const answered = roundOf(roundNumber, research, checked);
    const round = { ...answered, verified: answered.verified && !hasConflict(progress, answered) };
    if (isWorse(round, current)) {
      deps.log.warn(`Round ${roundNumber} failed: its report breaks off.`);
      return { ...progress, iterations: roundNumber };
    }
    await search.onRound(round);
    deps.log.info(`Round ${roundNumber} completed, verified: ${round.verified}`);
    return { iterations: roundNumber, rounds: [...progress.rounds, round] };
  } catch (error) {
    // Without a first result the search cannot continue; a cancel is not a failed round.
    if (current === undefined || !(error instanceof AppError) || error.code === "CANCELLED") throw error;
    deps.log.warn(`Round ${roundNumber} failed: ${error.message}`);
    if (error.code === "BUDGET_EXCEEDED") return { ...progress, stopped: error.message };
    return { ...progress, iterations: roundNumber };
  }
}

/** A truncated round replaces the current result only if that is truncated too and shorter. */
const isWorse = (round: Round, current: Round | undefined): boolean =>
  current !== undefined &&
  round.incomplete !== false &&
  !(current.incomplete !== false && round.report.length > current.report.length);

function questionFor(deps: SearchDeps, { search, progress }: { search: DeepSearch; progress: Progress }) {
  const { query, wishes, maxRounds } = search;
  const current = latest(progress);
  const values = { query, max_rounds: String(maxRounds) };
  if (current === undefined) {
    const schema = DEEP_SEARCH_SCHEMA;
    const prompt = deps.prompts.render("deep-search-prompt", { ...values, example: schema.example }, wishes);
    return { prompt, echo: prompt, schema };
  }
  // A user's own prompt without a place for claims asks for no checks.
  const takesClaims = deps.prompts.hasPlaceFor("claims", "verify-prompt");
  const list = takesClaims ? openClaimsOf(progress, current) : undefined;
  const schema = takesClaims ? VERIFY_SCHEMA : DEEP_SEARCH_SCHEMA;
  const all = { ...values, round: String(progress.iterations + 1), example: schema.example };
  const given = { result: current.report, claims: list?.text ?? "" };
  const prompt = deps.prompts.render("verify-prompt", { ...all, ...given }, wishes);
  // A verification may legitimately repeat the given result.
  const echo = deps.prompts.render("verify-prompt", { ...all, result: "", claims: "" }, wishes);
  return { prompt, echo, schema, list };
}

const openClaimsOf = (progress: Progress, { report }: Round): ClaimList =>
  listClaims(claimsOf(report, visitedIn(progress)), findingsIn(progress));

type CheckedClaims = Pick<Round, "findings" | "method">;

const NO_CHECKS: CheckedClaims = { findings: [] };

const METHODS = { api: "url_context", cli: "cli_tools" } as const;

/** A model that ignores the list leaves no findings, and its claims stay open. */
function checkedClaims(
  { answer, sources, reading }: Research,
  { list, progress }: { list: ClaimList; progress: Progress },
): CheckedClaims {
  if (answer.checks.length === 0 || reading.backend === undefined) return NO_CHECKS;
  const report = claimsOf(answer.report ?? "", [...visitedIn(progress), ...sources]);
  const findings = judgeChecks({ checks: answer.checks, list, report, pages: reading });
  return { findings, method: METHODS[reading.backend] };
}

function roundOf(
  roundNumber: number,
  { answer, reading: _reading, ...found }: Research,
  checked: CheckedClaims,
): Round {
  const report = answer.report ?? "";
  const verified = answer.verified ?? false;
  return { roundNumber, report, verified, summary: summarise(report), ...found, ...checked };
}

const SUMMARY_CHARACTERS = 160;

/** The beginning of a report's prose, to distinguish rounds in a list. */
export function summarise(report: string): string {
  const prose = report
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(?:#|[-=*_|`~]{3,}|\|)/.test(line))
    .join(" ");
  const text = prose === "" ? report.trim() : prose;
  if (text.length <= SUMMARY_CHARACTERS) return text;
  const cut = beginningOf(text, SUMMARY_CHARACTERS);
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > SUMMARY_CHARACTERS / 2 ? cut.slice(0, lastSpace) : cut}…`;
}
