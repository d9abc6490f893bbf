/** `search`: answers a question from the web in one round. */

import { z } from "zod";
import { noteSection, searchText } from "./parts/answer-text.ts";
import { defineOperation, outputSchema, queryField } from "./operation.ts";
import { wishesOf, withWishes } from "./question/wishes.ts";
import { incompleteSchema, runSingleRound, searchMetadataFields, storedSingleRound } from "./parts/search-run.ts";

const metadataSchema = z.looseObject({ query: z.string(), ...searchMetadataFields });

export const search = defineOperation({
  name: "search",
  title: "Web search",
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
  webText: true,
  asksBackend: true,
  task: {
    kind: "search",
    answer: async (stored) => {
      const { report: result, ...answer } = await storedSingleRound(stored, metadataSchema);
      return { success: true, result, ...answer };
    },
  },
  run: async (deps, { query, ...input }, call) => {
    const wishes = wishesOf(input);
    const { quickSearch } = await import("../search/quick.ts");
    const { report: result, ...answer } = await runSingleRound(deps, call, {
      start: { kind: "search", query, options: { wishes } },
      asked: { query },
      wishes,
      search: (searchDeps, searchCall) => quickSearch(searchDeps, { query, wishes }, searchCall),
    });
    return { success: true, result, ...answer };
  },
  toText: ({ result, incomplete, note, metadata }) =>
    searchText({ report: result, metadata, sections: noteSection(note), figures: { incomplete } }),
});
