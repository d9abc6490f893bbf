/** `deep_research`: the tool of older versions, kept so that nothing that calls it breaks. */

import { z } from "zod";
import { keepSuggestions } from "../reports/suggestions/keep.ts";
import { searchText } from "./answer-text.ts";
import { defineOperation, outputSchema, queryText } from "./operation.ts";
import {
  finishedSearch,
  numberedReport,
  runSearch,
  searchMetadata,
  searchMetadataFields,
  storedMetadata,
} from "./run-search.ts";

const metadataSchema = z.looseObject({ topic: z.string(), depth: z.string(), ...searchMetadataFields });

export const deepResearch = defineOperation({
  name: "deep_research",
  title: "Research report (older tool)",
  description:
    "Older tool, kept for existing configurations: writes a report on a topic in one unchecked round. Prefer deep_search, which verifies its result, or search for a quick answer. Takes seconds to minutes, costs a few cents. Returns the report (Markdown) and its sources.",
  input: z.strictObject({
    topic: queryText("topic").describe("What the report is about."),
    depth: z
      .enum(["concise", "detailed"], { error: "depth must be concise or detailed." })
      .default("detailed")
      .describe("concise: one page; detailed: sections and comparisons."),
  }),
  output: outputSchema({
    report: z.string().describe("The report in Markdown."),
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
      return { success: true, report, metadata: storedMetadata(metadataSchema, metadata) };
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
        const { report, sources } = numberedReport(findings.answer.report ?? "", findings.sources);
        const metadata = await searchMetadata(run, {
          asked: { topic, depth },
          findings,
          sources,
          now: deps.clock.now(),
        });
        return {
          output: { success: true, report, metadata },
          result: {
            report,
            sources,
            metadata,
            partial: false,
            searchSuggestions: keepSuggestions(findings.searchSuggestions),
          },
          model: findings.model,
        };
      },
    ),
  toText: ({ report, metadata }) => searchText({ report, metadata }),
});
