/** `deep_search`: searches in several rounds until one confirms the result or the rounds are used up. */

import { z } from "zod";
import { laterConflicts } from "../claims/evidence.ts";
import { keepSuggestions } from "../reports/suggestions/keep.ts";
import { allWarnings } from "../reports/gates/result-gates.ts";
import { numberSources, unique } from "../reports/report.ts";
import { verificationSchema } from "../reports/verification.ts";
import type { FinishedRun } from "../runs/local/local-run.ts";
import type { Finding } from "../search/checks/check.ts";
import type { Round } from "../search/deep.ts";
import type { Wishes } from "../search/wishes.ts";
import { checkedCitations } from "./citations/verify-citations.ts";
import { joinNotes, list, noteSection, searchText, verdictLines, verificationText } from "./parts/answer-text.ts";
import { wishesIn, wishesOf, withWishes } from "./question/wishes.ts";
import { type Call, defineOperation, type OperationDeps, outputSchema, queryField } from "./operation.ts";
import {
  cutNote,
  type FinishedSearch,
  finishedSearch,
  incompleteSchema,
  numberedReport,
  searchFacts,
  searchMetadata,
  searchMetadataFields,
  type SearchStart,
  trackSearch,
} from "./parts/search-run.ts";
import { maxRequestUsd, refuseAboveBudget } from "./parts/cost-confirmation.ts";
import {
  roundLine,
  roundMetadata,
  roundsOf,
  saveReadEvidence,
  storedRound,
  verificationNotes,
} from "./deep-search-rounds.ts";
import { type ResultFacts, roundSchema } from "./view/whole-view.ts";
import { hasHardLimit } from "../costs/budget.ts";
import { AppError } from "../errors.ts";
import { findRounds } from "../runs/result-store.ts";
import type { StoredRun } from "../runs/history/read.ts";
import { isFinished, type Run, type RunStatus } from "../runs/run.ts";

const MAX_ROUNDS = 20;
const ROUNDS_ERROR = "{max_iterations} must be a whole number from 2 to 20.";

const metadataSchema = z.looseObject({
  query: z.string(),
  ...searchMetadataFields,
  iterations: z.number().describe("Rounds done, failed ones included."),
  rounds: z.array(roundSchema),
});

export const deepSearchOperation = defineOperation({
  name: "deep_search",
  title: "Deep search",
  description:
    "Costs a few cents per round and takes 1 to 10 minutes: researches in rounds, first from five perspectives, then checks and corrects until the result is confirmed. For conflicting sources or when being wrong is costly; for look-ups use search, for a broad report start_deep_research. Returns the report (Markdown), whether verified, and its sources.",
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
    verification: verificationSchema.describe("Claims of the report, by what the pages that were opened say."),
    ...incompleteSchema,
    metadata: metadataSchema,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "query",
  webText: ["result"],
  asksBackend: true,
  task: {
    kind: "deep_search",
    answer: answerOf,
  },
  run: async (deps, { query, max_iterations, ...input }, call) => {
    const maxRounds = max_iterations ?? deps.settings.maxRounds;
    const request = { query, wishes: wishesOf(input), maxRounds, earlier: [] };
    return answerOf(deps, await runDeepSearch(deps, request, call));
  },
  toText: ({ result, verified, verified_in_round, verification, incomplete, note, metadata }) => {
    const { rounds, ...rest } = metadata;
    const verdict = { verified, verified_in_round, verification: verificationText(verification), incomplete };
    return searchText({
      lead: [...verdictLines(verdict), ...noteSection(note)],
      report: result,
      metadata: rest,
      sections: list("Rounds", rounds.map(roundLine)),
    });
  },
});

async function answerOf(deps: OperationDeps, stored: StoredRun) {
  const run = await finishedSearch(deps, stored);
  const report = { taskId: run.task_id, report: stored.result?.report ?? "" };
  // A database that fails must not cost an answer that is paid for.
  const checked = await deps.database().then(
    (db) => checkedCitations(db, report),
    () => undefined,
  );
  const later = run.verified === true ? laterConflicts(checked?.conflict) : "";
  return {
    success: true,
    verified: run.verified ?? false,
    verified_in_round: run.verified_in_round,
    verification: run.verification,
    incomplete: run.incomplete,
    note: joinNotes([run.note, later === "" ? undefined : `Verified${later}.`]),
    result: run.report,
    metadata: metadataOf(run),
  };
}

function metadataOf(run: FinishedSearch) {
  const metadata = searchMetadata(run, { query: run.query });
  const isListed = (n: number): boolean => n <= metadata.sources_visited.length;
  const rounds = (run.rounds ?? []).map((round) => ({
    ...round,
    source_numbers: round.source_numbers.filter(isListed),
  }));
  return { ...metadata, iterations: run.iterations ?? 0, rounds };
}

const optionsOf = (maxRounds: number, wishes: Wishes | undefined) => ({ max_iterations: maxRounds, wishes });

interface DeepSearchRun extends Pick<SearchStart, "earlierUsd" | "ofSchedule" | "stored" | "taskId"> {
  query: string;
  wishes: Wishes | undefined;
  maxRounds: number;
  earlier: Round[];
}

async function runDeepSearch(deps: OperationDeps, request: DeepSearchRun, call: Call): Promise<FinishedRun> {
  const { query, wishes, earlier, taskId, stored, earlierUsd, ofSchedule } = request;
  const maxRounds = Math.min(request.maxRounds, Math.max(MAX_ROUNDS, earlier.length + 1));
  const options = optionsOf(maxRounds, wishes);
  const start = { kind: "deep_search" as const, query, options, taskId, stored, earlierUsd, ofSchedule };
  const checks: Finding[] = [];
  const finished = await trackSearch(deps, { start, call }, async ({ run, search, call: searchCall }) => {
    const onRound = async (round: Round): Promise<void> => {
      run.setProgress((100 * round.roundNumber) / maxRounds);
      await run.saveRound({ ...round, sources: numberSources(round.sources), metadata: roundMetadata(round) });
    };
    if (maxRounds < request.maxRounds) run.log.warn(`The number of rounds is limited to ${MAX_ROUNDS}.`);
    // The earlier rounds belong to this run too, even if it fails.
    for (const round of earlier) await onRound(round);
    const { deepSearch, summarise } = await import("../search/deep.ts");
    const { best, verified, iterations, rounds, verification, open, stopped } = await deepSearch(
      search,
      { query, wishes, maxRounds, onRound, earlier },
      searchCall,
    );
    checks.push(...rounds.flatMap((round) => round.findings));
    const { report, sources } = await numberedReport(
      best.report,
      rounds.flatMap((round) => round.sources),
    );
    // Only the summaries cite by number: stored rounds keep their links, which the next round reads.
    const { citeByNumber } = await import("../reports/document/numbered.ts");
    const summaries = rounds.map((round) => summarise(citeByNumber(round.report, sources).report));
    const isGrounded = rounds.some((round) => round.isGrounded === true) || best.isGrounded;
    const warnings = allWarnings({ report, question: query, language: wishes?.language, isGrounded });
    const facts: ResultFacts = {
      ...searchFacts(run, { queries: rounds.flatMap((round) => round.queries) }),
      iterations,
      rounds: roundsOf(rounds, { sources, summaries }),
      verified,
      ...(verified ? { verified_in_round: best.roundNumber } : {}),
      verification,
      ...(best.incomplete === false ? {} : { incomplete: true }),
      note: joinNotes([
        cutNote(best),
        stopped && `It ended after round ${iterations}: ${stopped}`,
        ...verificationNotes({ verified, verification, open }),
        ...warnings,
      ]),
    };
    return {
      result: {
        report: best.report,
        sources,
        metadata: facts,
        hasWarning: warnings.length > 0,
        partial: false,
        searchSuggestions: keepSuggestions(unique(rounds.flatMap((round) => round.searchSuggestions))),
        supports: best.supports,
      },
      model: best.model,
    };
  });
  const { report, sources, supports } = finished.result;
  await saveReadEvidence(deps, { taskId: finished.run.taskId, report, sources, supports, findings: checks });
  return finished;
}

/** Continues a search after its last finished round, as a new run in the background (Q1). */
export async function continueDeepSearch(deps: OperationDeps, run: Run, call: Call) {
  const { newestContinuation, beginContinuation } = await import("../runs/run-store.ts");
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
  // Before the run is stored, which would otherwise stay unfinished.
  const { countedUsdOfLine } = await import("../runs/ledger/ledger-store.ts");
  const earlierUsd = hasHardLimit(deps.settings.budgets) ? await countedUsdOfLine(db, last) : 0;
  await refuseAboveBudget(deps, call, earlierUsd);
  const { claimRest } = await import("../runs/schedules/schedule-store.ts");
  const maxUsd = await maxRequestUsd(deps);
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
    claimRest: (transaction, scheduleId) => claimRest(transaction, { scheduleId, maxUsd }),
    now: clock.now(),
  });
  if (continuation.kind === "known") {
    const known = await deps.findRun(owner, continuation.taskId);
    return continuedAs(known.taskId, known.status);
  }
  const background = { ...call, signal: deps.leaving, progress: () => {} };
  const { ofSchedule } = continuation;
  const request = { query, wishes, maxRounds, earlier, taskId, stored: true, earlierUsd, ofSchedule };
  deps.inBackground(runDeepSearch(deps, request, background).catch(() => undefined));
  return resumedAs(taskId, "running", `The search continues at round ${earlier.length + 1} as a new run.`);
}

function notResumable({ taskId, status, progress }: Run, finishedRounds: number): AppError {
  return new AppError({
    code: status === "completed" ? "RESEARCH_ALREADY_COMPLETED" : "INVALID_INPUT",
    message:
      finishedRounds === 0
        ? "This search has no finished round to continue from; ask it again."
        : "This search has not stopped; there is nothing to retry.",
    run: { task_id: taskId, status, progress },
  });
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
