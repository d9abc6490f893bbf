/** `deep_search`: searches in several rounds until one confirms the result or the rounds are used up. */

import { z } from "zod";
import { keepSuggestions } from "../reports/suggestions/keep.ts";
import { AppError } from "../errors.ts";
import { citeByNumber } from "../reports/citations/cite-by-number.ts";
import { pageKey } from "../reports/page-key.ts";
import { numberSources, type Source, unique } from "../reports/report.ts";
import { findRounds } from "../runs/result-store.ts";
import { isFinished, type Run, type RunStatus, type SavedRound } from "../runs/run.ts";
import { MAX_ROUNDS } from "../search/max-rounds.ts";
import type { Round } from "../search/deep.ts";
import type { Wishes } from "../search/wishes.ts";
import { list, noteSection, searchText } from "./parts/answer-text.ts";
import { wishesIn, wishesOf, withWishes } from "./question/wishes.ts";
import { type Call, defineOperation, type OperationDeps, outputSchema, queryField } from "./operation.ts";
import {
  finishedSearch,
  incompleteFields,
  incompleteSchema,
  numberedReport,
  searchMetadata,
  searchMetadataFields,
  type SearchStart,
  storedMetadata,
  trackSearch,
} from "./parts/search-run.ts";

const ROUNDS_ERROR = "max_iterations must be a whole number from 2 to 20.";
const NOT_VERIFIED = "Verification was not completed within the allowed rounds; this is the best result obtained.";

const metadataSchema = z.looseObject({
  query: z.string(),
  ...searchMetadataFields,
  iterations: z.number().describe("Rounds done, failed ones included."),
  rounds: z.array(
    z.looseObject({
      round_number: z.number(),
      sources_visited: z.array(z.number()).describe("Positions in sources_visited above, from 1."),
      search_queries: z.array(z.string()),
      intermediate_result_summary: z.string(),
    }),
  ),
});

/** Fields of the answer that are stored beside the metadata of the run. */
const verificationSchema = z.object({
  verified: z.boolean(),
  verified_in_round: z.number().optional(),
  incomplete: z.boolean().optional(),
  note: z.string().optional(),
});

export const deepSearchOperation = defineOperation({
  name: "deep_search",
  title: "Verified web research",
  description:
    "Researches in rounds: five perspectives first, then checks and corrections until the result is confirmed. For conflicting sources or when being wrong is costly; for look-ups use search, for a broad report start_deep_research. Takes 1 to 10 minutes, costs a few cents per round. Returns the report (Markdown), whether verified, and its sources.",
  input: withWishes({
    query: queryField("query").describe("The question, in any language, as precisely as possible."),
    max_iterations: z
      .int({ error: ROUNDS_ERROR })
      .min(2, { error: ROUNDS_ERROR })
      .optional()
      .meta({ description: "Max rounds. Default: the server's (5).", maximum: MAX_ROUNDS }),
  }),
  output: outputSchema({
    result: z.string().describe("The report in Markdown."),
    verified: z.boolean().describe("Whether a round confirmed the result."),
    verified_in_round: z.number(),
    ...incompleteSchema,
    metadata: metadataSchema,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "query",
  webText: true,
  asksBackend: true,
  task: {
    kind: "deep_search",
    answer: (stored) => {
      const { report: result, metadata } = finishedSearch(stored);
      const {
        verified: _verified,
        verified_in_round: _round,
        incomplete: _incomplete,
        note: _note,
        ...rest
      } = metadata;
      const own = verificationSchema.parse(metadata);
      return {
        success: true,
        result,
        ...own,
        metadata: storedMetadata(metadataSchema, withNumberedRounds(rest)),
      };
    },
  },
  run: (deps, { query, max_iterations, ...input }, call) => {
    const maxRounds = max_iterations ?? deps.settings.maxRounds;
    return runDeepSearch(deps, { query, wishes: wishesOf(input), maxRounds, earlier: [] }, call);
  },
  toText: ({ result, verified, verified_in_round, incomplete, note, metadata }) => {
    const { rounds, ...rest } = metadata;
    const lines = rounds.map(roundLine);
    return searchText({
      report: result,
      metadata: rest,
      sections: [...noteSection(note), ...list("Rounds", lines)],
      figures: { verified, verified_in_round, incomplete },
    });
  },
});

/** What the continuation of a search needs of a round besides its text and sources. */
const roundMetadata = ({ model, searchSuggestions, incomplete }: Round): Record<string, unknown> => ({
  model,
  ...(incomplete ? { incomplete } : {}),
  ...(searchSuggestions.length > 0 ? { search_suggestions: searchSuggestions } : {}),
});

const optionsOf = (maxRounds: number, wishes: Wishes | undefined) => ({ max_iterations: maxRounds, wishes });

interface DeepSearchRun extends Pick<SearchStart, "taskId" | "stored"> {
  query: string;
  wishes: Wishes | undefined;
  maxRounds: number;
  earlier: Round[];
}

function runDeepSearch(deps: OperationDeps, request: DeepSearchRun, call: Call) {
  const { query, wishes, earlier, taskId, stored } = request;
  const maxRounds = Math.min(request.maxRounds, Math.max(MAX_ROUNDS, earlier.length + 1));
  const start = { kind: "deep_search" as const, query, options: optionsOf(maxRounds, wishes), taskId, stored };
  return trackSearch(deps, { start, call }, async ({ run, search, call: searchCall }) => {
    const onRound = async (round: Round): Promise<void> => {
      run.setProgress((100 * round.roundNumber) / maxRounds);
      await run.saveRound({ ...round, sources: numberSources(round.sources), metadata: roundMetadata(round) });
    };
    if (maxRounds < request.maxRounds) run.log.warn(`max_iterations is limited to ${MAX_ROUNDS} rounds.`);
    // The earlier rounds belong to this run too, even if it fails.
    for (const round of earlier) await onRound(round);
    const { deepSearch, summarise } = await import("../search/deep.ts");
    const { best, verified, iterations, rounds } = await deepSearch(
      search,
      { query, wishes, maxRounds, onRound, earlier },
      searchCall,
    );
    const visited = rounds.flatMap((round) => round.sources);
    const { report, sources } = numberedReport(best.report, visited);
    const findings = {
      model: best.model,
      queries: rounds.flatMap((round) => round.queries),
      searchSuggestions: unique(rounds.flatMap((round) => round.searchSuggestions)),
    };
    const common = await searchMetadata(run, { asked: { query }, wishes, findings, sources, now: deps.clock.now() });
    // Only the summaries cite by number: stored rounds keep their links, which the next round reads.
    const summaries = rounds.map((round) => summarise(citeByNumber(round.report, sources).report));
    const metadata = { ...common, iterations, rounds: roundsOf(rounds, { sources, summaries }) };
    const verification: z.infer<typeof verificationSchema> = {
      verified,
      verified_in_round: verified ? best.roundNumber : undefined,
      note: verified ? undefined : NOT_VERIFIED,
      ...incompleteFields(best),
    };
    return {
      output: { success: true, result: report, ...verification, metadata },
      result: {
        report: best.report,
        sources,
        metadata: { ...metadata, ...verification },
        partial: false,
        searchSuggestions: keepSuggestions(findings.searchSuggestions),
      },
      model: best.model,
    };
  });
}

/** Continues a search after its last finished round, as a new run in the background (Q1). */
export async function continueDeepSearch(deps: OperationDeps, run: Run, call: Call) {
  const { newestContinuation, beginContinuation } = await import("../runs/local/continuation-store.ts");
  const { db, processId, clock } = await deps.recorder();
  const { owner, client } = call;
  const newest = await newestContinuation(db, { taskId: run.taskId, owner });
  if (newest?.status === "running" || newest?.status === "completed") return continuedAs(newest.task_id, newest.status);
  // A continuation that stopped too contains these rounds and perhaps more, which are paid for.
  const last = newest?.task_id ?? run.taskId;
  const furthest = await findRounds(db, last);
  const rounds = furthest.length > 0 ? furthest : await findRounds(db, run.taskId);
  if (!isFinished(run.status) || run.status === "completed" || rounds.length === 0) {
    throw notResumable(run, rounds.length);
  }
  const { query } = run;
  const wishes = wishesIn(run.options);
  const earlier = rounds.map(storedRound);
  const asked = Number(run.options["max_iterations"] ?? deps.settings.maxRounds);
  // A search that has used up its rounds gets one more.
  const maxRounds = Math.max(asked, earlier.length + 1);
  const taskId = crypto.randomUUID();
  const continuation = await beginContinuation(db, {
    taskId,
    parentTaskId: last,
    owner,
    client,
    kind: "deep_search",
    query,
    options: optionsOf(maxRounds, wishes),
    processId,
    now: clock.now(),
  });
  if (continuation.kind === "known") {
    const known = await deps.findRun(owner, continuation.taskId);
    return continuedAs(known.taskId, known.status);
  }
  const background = { ...call, signal: deps.leaving, progress: () => {} };
  const request = { query, wishes, maxRounds, earlier, taskId, stored: true };
  deps.inBackground(runDeepSearch(deps, request, background).catch(() => undefined));
  return resumedAs(taskId, "running", `The search continues at round ${earlier.length + 1} as a new run.`);
}

function notResumable({ taskId, status, progress }: Run, finishedRounds: number): AppError {
  return new AppError({
    code: status === "completed" ? "RESEARCH_ALREADY_COMPLETED" : "INVALID_INPUT",
    message:
      finishedRounds === 0
        ? "This search has no finished round to continue from; ask it again."
        : "This search has not stopped; there is nothing to resume.",
    run: { task_id: taskId, status, progress },
  });
}

function storedRound(round: SavedRound): Round {
  const { model, incomplete, search_suggestions: suggestions } = round.metadata;
  return {
    ...round,
    model: typeof model === "string" ? model : "auto-detected",
    incomplete: incomplete === true,
    searchSuggestions: z.array(z.string()).catch([]).parse(suggestions),
  };
}

const continuedAs = (taskId: string, status: RunStatus) =>
  resumedAs(taskId, status, "This search has already been continued: see this run.");

const resumedAs = (taskId: string, status: RunStatus, message: string) => ({
  success: true,
  task_id: taskId,
  status,
  message,
  check_status_command: `check_research_status(task_id='${taskId}')`,
});

function roundLine(round: ReturnType<typeof roundsOf>[number]): string {
  return `- Round ${round.round_number}, sources ${rangesOf(round.sources_visited)}; queries: ${round.search_queries.join("; ")}. ${round.intermediate_result_summary}`;
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

/** Earlier versions stored the URLs of a round instead of the numbers of its sources. */
function withNumberedRounds({ rounds, ...metadata }: Record<string, unknown>): Record<string, unknown> {
  const known = z.array(z.string()).catch([]).parse(metadata["sources_visited"]);
  const numberOf = (source: unknown): unknown => (typeof source === "string" ? known.indexOf(source) + 1 : source);
  const listOf = (value: unknown): unknown[] => z.array(z.unknown()).catch([]).parse(value);
  // Not parsed by a schema of its fields, which would change their order and so the text.
  const numbered = z
    .array(z.record(z.string(), z.unknown()))
    .catch([])
    .parse(rounds)
    .map((round) => ({ ...round, sources_visited: listOf(round["sources_visited"]).map(numberOf) }));
  return { ...metadata, rounds: numbered };
}

/** Names the sources of a round by number, because their URLs are long and already in `sources_visited` (U3). */
function roundsOf(rounds: Round[], { sources, summaries }: { sources: readonly Source[]; summaries: string[] }) {
  const numbers = new Map(sources.map(({ n, url }) => [pageKey(url), n]));
  return rounds.map((round, index) => ({
    round_number: round.roundNumber,
    sources_visited: [...new Set(round.sources.flatMap(({ url }) => numbers.get(pageKey(url)) ?? []))],
    search_queries: unique(round.queries),
    intermediate_result_summary: summaries[index] ?? round.summary,
  }));
}
