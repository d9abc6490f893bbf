/** `deep_research`: the tool of older versions, kept for backward compatibility. */

import { z } from "zod";
import { noteSection, searchText, verdictLines } from "./parts/answer-text.ts";
import { defineOperation, outputSchema, queryField } from "./operation.ts";
import {
  type FinishedSearch,
  finishedSearch,
  incompleteSchema,
  runSingleRound,
  searchMetadata,
  searchMetadataFields,
} from "./parts/search-run.ts";
import type { Run } from "../runs/run.ts";

const metadataSchema = z.looseObject({ topic: z.string(), depth: z.string(), ...searchMetadataFields });

export const deepResearch = defineOperation({
  name: "deep_research",
  title: "Quick report",
  description: "Prefer search.",
  input: z.strictObject({
    topic: queryField("topic").describe("Its subject."),
    depth: z
      .enum(["concise", "detailed"], { error: "{depth} must be concise or detailed." })
      .optional()
      .describe("Its length."),
  }),
  output: outputSchema({
    report: z.string().describe("The report in Markdown."),
    ...incompleteSchema,
    metadata: metadataSchema,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  positional: "topic",
  webText: ["report"],
  asksBackend: true,
  task: {
    kind: "deep_research",
    answer: async (deps, stored) => answerOf(await finishedSearch(deps, stored), depthOf(stored.run)),
  },
  // Without a default in the schema, which every session would pay for.
  run: async (deps, { topic, depth = "detailed" }, call) => {
    const { researchReport } = await import("../search/quick.ts");
    const request = { topic, depth, ownPrompt: deps.settings.legacyPrompt };
    const finished = await runSingleRound(deps, call, {
      start: { kind: "deep_research", query: topic, options: { depth } },
      search: (searchDeps, searchCall) => researchReport(searchDeps, request, searchCall),
    });
    return answerOf(await finishedSearch(deps, finished), depth);
  },
  toText: ({ report, incomplete, note, metadata }) =>
    searchText({ lead: [...verdictLines({ incomplete }), ...noteSection(note)], report, metadata }),
});

const depthOf = ({ options: { depth } }: Run): string => (typeof depth === "string" ? depth : "");

const answerOf = (run: FinishedSearch, depth: string) => ({
  success: true,
  incomplete: run.incomplete,
  note: run.note,
  report: run.report,
  metadata: searchMetadata(run, { topic: run.query, depth }),
});
