/** `deep_research`: the tool of older versions, kept so that nothing that calls it breaks. */

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

const metadataSchema = z.looseObject({ topic: z.string(), depth: z.string(), ...searchMetadataFields });

export const deepResearch = defineOperation({
  name: "deep_research",
  title: "Research report (older tool)",
  description:
    "Older tool, kept for old configurations: a report in one unchecked round. Prefer deep_search, which verifies, or search. Takes seconds to minutes, costs a few cents. Returns the report (Markdown) and its sources.",
  input: z.strictObject({
    topic: queryText("topic").describe("What the report is about."),
    depth: z
      .enum(["concise", "detailed"], { error: "depth must be concise or detailed." })
      .default("detailed")
      .describe("concise: one page; detailed: sections and comparisons."),
  }),
  output: outputSchema({
    report: z.string().describe("The report in Markdown."),
    ...incompleteSchema,
    metadata: metadataSchema,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "topic",
  webText: true,
  asksBackend: true,
  task: {
    kind: "deep_research",
    answer: (stored) => {
      const { report, metadata } = finishedSearch(stored);
      const { own, metadata: rest } = splitIncomplete(metadata);
      return { success: true, report, ...own, metadata: storedMetadata(metadataSchema, rest) };
    },
  },
  run: (deps, { topic, depth }, call) =>
    runSearch(
      deps,
      { start: { kind: "deep_research", query: topic, options: { depth } }, call },
      async ({ run, search, call: inner }) => {
        const request = { topic, depth, ownPrompt: deps.settings.legacyPrompt };
        const { researchReport } = await import("../search/quick.ts");
        const findings = await researchReport(search, request, inner);
        const stored = findings.answer.report ?? "";
        const { report, sources } = numberedReport(stored, findings.sources);
        const metadata = await searchMetadata(run, {
          asked: { topic, depth },
          findings,
          sources,
          now: deps.clock.now(),
        });
        const own = incompleteFields(findings);
        return {
          output: { success: true, report, ...own, metadata },
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
  toText: ({ report, incomplete, note, metadata }) =>
    searchText({ report, metadata, sections: noteSection(note), figures: { incomplete } }),
});
