/** `deep_search`: searches in several rounds until one confirms the result or the rounds are used up. */

import { z } from "zod";
import { keepSuggestions } from "../reports/suggestions/keep.ts";
import { allWarnings } from "../reports/gates/result-gates.ts";
import { numberSources, unique } from "../reports/report.ts";
import { verificationSchema } from "../reports/verification.ts";
import { MAX_ROUNDS } from "../search/max-rounds.ts";
import type { Round } from "../search/deep.ts";
import type { Wishes } from "../search/wishes.ts";
import { list, noteSection, searchText } from "./parts/answer-text.ts";
import { wishesOf, withWishes } from "./question/wishes.ts";
import { type Call, defineOperation, type OperationDeps, outputSchema, queryField } from "./operation.ts";
import {
  finishedSearch,
  incompleteFields,
  incompleteSchema,
  joinNotes,
  numberedReport,
  searchMetadata,
  searchMetadataFields,
  type SearchStart,
  storedMetadata,
  trackSearch,
} from "./parts/search-run.ts";
import { saveReadEvidence } from "./rounds/read-evidence.ts";
import { roundLine, roundMetadata, roundsOf, withNamedSources } from "./rounds/stored-rounds.ts";
import { verificationText } from "./rounds/verification-fields.ts";
import { verificationNotes } from "./rounds/verification-note.ts";

const ROUNDS_ERROR = "max_iterations must be a whole number from 2 to 20.";

const metadataSchema = z.looseObject({
  query: z.string(),
  ...searchMetadataFields,
  iterations: z.number().describe("Rounds done, failed ones included."),
  rounds: z.array(
    z.looseObject({
      round_number: z.number(),
      sources_visited: z.array(z.string()).describe("The site of each."),
      source_numbers: z.array(z.number()).describe("Positions in sources_visited above, from 1."),
      search_queries: z.array(z.string()),
      intermediate_result_summary: z.string(),
    }),
  ),
});

/** Fields of the answer that are stored beside the metadata of the run. */
const ownFields = z.object({
  verified: z.boolean(),
  verified_in_round: z.number().optional(),
  verification: verificationSchema.optional().catch(undefined),
  incomplete: z.boolean().optional(),
  note: z.string().optional(),
});

export const deepSearchOperation = defineOperation({
  name: "deep_search",
  title: "Verified web research",
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
  webText: true,
  asksBackend: true,
  task: {
    kind: "deep_search",
    answer: async (stored) => {
      const { report: result, sources, metadata } = await finishedSearch(stored);
      const {
        verified: _verified,
        verified_in_round: _round,
        verification: _verification,
        incomplete: _incomplete,
        note: _note,
        ...rest
      } = metadata;
      const own = ownFields.parse(metadata);
      return {
        success: true,
        result,
        ...own,
        metadata: storedMetadata(metadataSchema, withNamedSources(rest, sources)),
      };
    },
  },
  run: (deps, { query, max_iterations, ...input }, call) => {
    const maxRounds = max_iterations ?? deps.settings.maxRounds;
    return runDeepSearch(deps, { query, wishes: wishesOf(input), maxRounds, earlier: [] }, call);
  },
  toText: ({ result, verified, verified_in_round, verification, incomplete, note, metadata }) => {
    const { rounds, ...rest } = metadata;
    const lines = rounds.map(roundLine);
    return searchText({
      report: result,
      metadata: rest,
      sections: [...noteSection(note), ...list("Rounds", lines)],
      figures: { verification: verificationText(verification), verified, verified_in_round, incomplete },
    });
  },
});

export const optionsOf = (maxRounds: number, wishes: Wishes | undefined) => ({ max_iterations: maxRounds, wishes });

interface DeepSearchRun extends Pick<SearchStart, "taskId" | "stored"> {
  query: string;
  wishes: Wishes | undefined;
  maxRounds: number;
  earlier: Round[];
}

export async function runDeepSearch(deps: OperationDeps, request: DeepSearchRun, call: Call) {
  const { answer, checked } = await searchInRounds(deps, request, call);
  await saveReadEvidence(deps, checked);
  return answer;
}

function searchInRounds(deps: OperationDeps, request: DeepSearchRun, call: Call) {
  const { query, wishes, earlier, taskId, stored } = request;
  const maxRounds = Math.min(request.maxRounds, Math.max(MAX_ROUNDS, earlier.length + 1));
  const start = { kind: "deep_search" as const, query, options: optionsOf(maxRounds, wishes), taskId, stored };
  return trackSearch(deps, { start, call }, async ({ run, search, call: searchCall }) => {
    const onRound = async (round: Round): Promise<void> => {
      run.setProgress((100 * round.roundNumber) / maxRounds);
      await run.saveRound({ ...round, sources: numberSources(round.sources), metadata: roundMetadata(round) });
    };
    if (maxRounds < request.maxRounds) run.log.warn(`The number of rounds is limited to ${MAX_ROUNDS}.`);
    // The earlier rounds belong to this run too, even if it fails.
    for (const round of earlier) await onRound(round);
    const { deepSearch, summarise } = await import("../search/deep.ts");
    const { best, verified, iterations, rounds, verification, open } = await deepSearch(
      search,
      { query, wishes, maxRounds, onRound, earlier },
      searchCall,
    );
    const visited = rounds.flatMap((round) => round.sources);
    const { report, sources } = await numberedReport(best.report, visited);
    const findings = {
      model: best.model,
      queries: rounds.flatMap((round) => round.queries),
      searchSuggestions: unique(rounds.flatMap((round) => round.searchSuggestions)),
    };
    const common = await searchMetadata(run, { asked: { query }, wishes, findings, sources, now: deps.clock.now() });
    // Only the summaries cite by number: stored rounds keep their links, which the next round reads.
    const { citeByNumber } = await import("../reports/document/numbered.ts");
    const summaries = rounds.map((round) => summarise(citeByNumber(round.report, sources).report));
    const metadata = { ...common, iterations, rounds: roundsOf(rounds, { sources, summaries }) };
    const { incomplete, note: cut } = incompleteFields(best);
    const isGrounded = rounds.some((round) => round.isGrounded === true) || best.isGrounded;
    const warnings = allWarnings({ report, question: query, language: wishes?.language, isGrounded });
    const own: z.infer<typeof ownFields> = {
      verified,
      verified_in_round: verified ? best.roundNumber : undefined,
      verification,
      incomplete,
      note: joinNotes([cut, ...verificationNotes({ verified, verification, open }), ...warnings]),
    };
    const checks = rounds.flatMap((round) => round.findings);
    return {
      output: {
        answer: { success: true, result: report, ...own, metadata },
        checked: { taskId: run.taskId, report: best.report, sources, supports: best.supports, findings: checks },
      },
      result: {
        report: best.report,
        sources,
        metadata: { ...metadata, ...own },
        hasWarning: warnings.length > 0,
        partial: false,
        searchSuggestions: keepSuggestions(findings.searchSuggestions),
        supports: best.supports,
      },
      model: best.model,
    };
  });
}
