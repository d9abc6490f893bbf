/** `read_report`: a stored report as the document that would be saved. Not a tool: models use get_research_results. */

import { z } from "zod";
import { pictureUri } from "./answer-extras.ts";
import { defineOperation, outputSchema, taskIdField } from "../operation.ts";
import { reportDocument, templatesOf } from "../save-research-to-markdown.ts";

export const readReportDocument = defineOperation({
  name: "read_report",
  title: "Read a report",
  description: "Returns the Markdown document of a finished run, with metadata and numbered sources.",
  input: z.strictObject({
    task_id: taskIdField,
    reader: z.enum(["client", "file"]).default("client").describe("Only an MCP client can follow links to pictures."),
  }),
  output: outputSchema({ document: z.string() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  webText: ["document"],
  run: async (deps, { task_id, reader }, { owner }) => {
    const wanted = {
      owner,
      task_id,
      include_metadata: true,
      include_sources: true,
      templates: templatesOf(deps),
      now: deps.clock.now(),
    };
    const { run, render } = await reportDocument(await deps.database(), wanted);
    const document = reader === "file" ? render() : render(({ n }) => pictureUri(run.taskId, n));
    return { success: true, task_id: run.taskId, status: run.status, document };
  },
  toText: ({ document }) => document,
});
