/** `search`: answers a question from the web in one round. */

import { z } from "zod";
import { noteSection, searchText, verdictLines } from "./parts/answer-text.ts";
import type { FinishedRun } from "../runs/local/local-run.ts";
import type { Wishes } from "../search/wishes.ts";
import { type Call, defineOperation, type OperationDeps, outputSchema, queryField } from "./operation.ts";
import { wishesOf, withWishes } from "./question/wishes.ts";
import {
  type FinishedSearch,
  finishedSearch,
  incompleteSchema,
  runSingleRound,
  searchMetadata,
  searchMetadataFields,
} from "./parts/search-run.ts";

const metadataSchema = z.looseObject({ query: z.string(), ...searchMetadataFields });

export const search = defineOperation({
  name: "search",
  title: "Search",
  description:
    "Answers a question from the web in one round: Gemini searches, reads pages and writes a short report. For facts, news, documentation, prices. Where sources conflict or errors are costly: deep_search. Takes seconds, costs about a cent. Returns the report (Markdown) and its sources.",
  input: withWishes({
    query: queryField("query").describe("The question, in any language, as precisely as possible."),
  }),
  output: outputSchema({
    result: z.string().describe("The report in Markdown."),
    ...incompleteSchema,
    metadata: metadataSchema,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "query",
  webText: ["result"],
  asksBackend: true,
  task: {
    kind: "search",
    answer: async (deps, stored) => answerOf(await finishedSearch(deps, stored)),
  },
  run: async (deps, { query, ...input }, call) =>
    answerOf(await finishedSearch(deps, await runSearch(deps, { query, wishes: wishesOf(input) }, call))),
  toText: ({ result, incomplete, note, metadata }) =>
    searchText({ lead: [...verdictLines({ incomplete }), ...noteSection(note)], report: result, metadata }),
});

export async function runSearch(
  deps: OperationDeps,
  { query, wishes }: { query: string; wishes?: Wishes | undefined },
  call: Call,
): Promise<FinishedRun> {
  const { quickSearch } = await import("../search/quick.ts");
  return runSingleRound(deps, call, {
    start: { kind: "search", query, options: { wishes } },
    wishes,
    search: (searchDeps, searchCall) => quickSearch(searchDeps, { query, wishes }, searchCall),
  });
}

const answerOf = (run: FinishedSearch) => ({
  success: true,
  incomplete: run.incomplete,
  note: run.note,
  result: run.report,
  metadata: searchMetadata(run, { query: run.query }),
});
