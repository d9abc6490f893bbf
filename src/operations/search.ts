/** `search`: one grounded answer in seconds. */

import { z } from "zod";
import { keepSuggestions } from "../reports/suggestions/keep.ts";
import { noteSection, searchText } from "./parts/answer-text.ts";
import { defineOperation, outputSchema, queryText } from "./operation.ts";
import {
  finishedSearch,
  incompleteFields,
  incompleteSchema,
  numberedReport,
  runSearch,
  searchMetadata,
  searchMetadataFields,
  splitIncomplete,
  storedMetadata,
} from "./parts/search-run.ts";

const metadataSchema = z.looseObject({ query: z.string(), ...searchMetadataFields });

export const search = defineOperation({
  name: "search",
  title: "Web search",
  description:
    "Answers a question from the web in one round: Gemini searches, reads pages and writes a short report. For facts, news, documentation, prices. Where sources conflict or errors are costly: deep_search. Takes seconds, costs about a cent. Returns the report (Markdown) and its sources.",
  input: z.strictObject({
    query: queryText("query").describe("The question, in any language, as precisely as possible."),
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
    answer: (stored) => {
      const { report: result, metadata } = finishedSearch(stored);
      const { own, metadata: rest } = splitIncomplete(metadata);
      return { success: true, result, ...own, metadata: storedMetadata(metadataSchema, rest) };
    },
  },
  run: (deps, { query }, call) =>
    runSearch(
      deps,
      { start: { kind: "search", query, options: {} }, call },
      async ({ run, search: deeper, call: inner }) => {
        const { quickSearch } = await import("../search/quick.ts");
        const findings = await quickSearch(deeper, query, inner);
        const stored = findings.answer.report ?? "";
        const { report: result, sources } = numberedReport(stored, findings.sources);
        const metadata = await searchMetadata(run, { asked: { query }, findings, sources, now: deps.clock.now() });
        const own = incompleteFields(findings);
        return {
          output: { success: true, result, ...own, metadata },
          result: {
            report: stored,
            sources,
            metadata: { ...metadata, ...own },
            partial: false,
            searchSuggestions: keepSuggestions(findings.searchSuggestions),
          },
          model: findings.model,
        };
      },
    ),
  toText: ({ result, incomplete, note, metadata }) =>
    searchText({ report: result, metadata, sections: noteSection(note), figures: { incomplete } }),
});
