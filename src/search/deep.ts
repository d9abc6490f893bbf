/** Runs the rounds of a deep search: first five perspectives, then verification until Gemini confirms the result. */

import { AppError } from "../errors.ts";
import type { VisitedSource } from "../gemini/search-backend.ts";
import { executeResearchWithCorrection, type Research, type SearchCall, type SearchDeps } from "./correct-json.ts";
import { DEEP_SEARCH_SCHEMA } from "./schemas.ts";
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
  /** The report is truncated. */
  incomplete: boolean;
  model: string;
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
}

interface Progress {
  iterations: number;
  rounds: Round[];
}

export async function deepSearch(deps: SearchDeps, search: DeepSearch, call: SearchCall): Promise<DeepSearchResult> {
  const { earlier = [] } = search;
  let progress: Progress = { iterations: earlier.length, rounds: earlier };
  while (!isDone(progress, search.maxRounds)) {
    progress = await nextRound(deps, { search, progress }, call);
  }
  const best = latest(progress);
  if (best === undefined) throw new Error("A deep search ended without a first round.");
  const { iterations, rounds } = progress;
  deps.log.info(`Deep search completed: ${iterations} rounds, verified: ${best.verified}`);
  return { best, verified: best.verified, iterations, rounds };
}

const latest = (progress: Progress): Round | undefined => progress.rounds.at(-1);

const isDone = (progress: Progress, maxRounds: number): boolean =>
  progress.iterations >= maxRounds || latest(progress)?.verified === true;

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
    const research = await executeResearchWithCorrection(
      deps,
      questionFor(deps, { search, roundNumber, current }),
      call,
    );
    const round = roundOf(roundNumber, research);
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
    return { ...progress, iterations: roundNumber };
  }
}

/** A truncated round replaces the current result only if that is truncated too and shorter. */
const isWorse = (round: Round, current: Round | undefined): boolean =>
  current !== undefined && round.incomplete && !(current.incomplete && round.report.length > current.report.length);

function questionFor(
  deps: SearchDeps,
  { search, roundNumber, current }: { search: DeepSearch; roundNumber: number; current: Round | undefined },
) {
  const schema = DEEP_SEARCH_SCHEMA;
  const { wishes } = search;
  const values = { query: search.query, max_rounds: String(search.maxRounds), example: schema.example };
  if (current === undefined) {
    const prompt = deps.prompts.render("deep-search-prompt", values, wishes);
    return { prompt, echo: prompt, schema };
  }
  const round = String(roundNumber);
  const prompt = deps.prompts.render("verify-prompt", { ...values, round, result: current.report }, wishes);
  // A verification may legitimately repeat the given result.
  const echo = deps.prompts.render("verify-prompt", { ...values, round, result: "" }, wishes);
  return { prompt, echo, schema };
}

function roundOf(roundNumber: number, { answer, ...found }: Research): Round {
  const report = answer.report ?? "";
  const verified = answer.verified ?? false;
  return { roundNumber, report, verified, summary: summarise(report), ...found };
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
  // Removes half a surrogate pair.
  const cut = text.slice(0, SUMMARY_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > SUMMARY_CHARACTERS / 2 ? cut.slice(0, lastSpace) : cut}…`;
}
