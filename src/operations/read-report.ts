/** A stored report as the document that would be saved. No tool: get_research_results serves models better. */

import { z } from "zod";
import { defineOperation, outputSchema, taskId } from "./operation.ts";
import { reportDocument } from "./save-research-to-markdown.ts";

export const readReportDocument = defineOperation({
  name: "read_report",
  title: "Read a report",
  description: "Returns the Markdown document of a finished run, with metadata and numbered sources.",
  input: z.strictObject({ task_id: taskId }),
  output: outputSchema({ document: z.string() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  webText: true,
  run: async (deps, { task_id }, { owner }) => {
    const wanted = { owner, task_id, include_metadata: true, include_sources: true, now: deps.clock.now() };
    const { run, text } = await reportDocument(await deps.database(), wanted);
    return { success: true, task_id: run.taskId, status: run.status, document: text };
  },
  toText: ({ document }) => document,
});
