/** `save_research_to_markdown`: writes a stored report to a Markdown file; `read_report` returns the same document. */

import { resolve } from "node:path";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { BIBLIOGRAPHY_FORMATS } from "../reports/bibliography/bibliography-formats.ts";
import type { SaveRequest } from "../reports/files/save-markdown.ts";
import { TABLE_FORMATS, type TableFormat } from "../reports/table/table-files.ts";
import { type Call, defineOperation, flagField, type OperationDeps, outputSchema, taskIdField } from "./operation.ts";
import { factLines, pictureUri } from "./parts/answer-text.ts";
import {
  bibliographyFile,
  markdownFile,
  pathField,
  refusedFile,
  reportDocument,
  saveContent,
  type SavedContent,
  savedFileFields,
  tableAsFile,
  textField,
  type WantedFile,
} from "./parts/report-file.ts";

export const DEFAULT_DIRECTORY = "./research_reports";
export const prefixField = textField("filename_prefix", 1_000);

const FORMATS = [...TABLE_FORMATS, ...BIBLIOGRAPHY_FORMATS] as const;
type Format = (typeof FORMATS)[number];

export const saveResearchToMarkdown = defineOperation({
  name: "save_research_to_markdown",
  title: "Save research to Markdown",
  description:
    "Saves the report of a finished run as a Markdown file with sources; a partial one is marked PARTIAL. To read it: get_research_results. Free, local, never overwrites. Returns the path.",
  input: z.strictObject({
    task_id: taskIdField,
    output_dir: pathField("output_dir")
      .optional()
      .describe("Default: RESEARCH_REPORTS_DIR (over the network always inside it), else ./research_reports."),
    filename_prefix: prefixField.default("research").describe("How the file name begins."),
    include_metadata: flagField("include_metadata").default(true).describe("Write model, times, tokens, cost."),
    include_sources: flagField("include_sources").default(true).describe("Write the sources."),
    format: z
      .enum(FORMATS, { error: `{format} must be one of ${FORMATS.join(", ")}.` })
      .optional()
      .describe("Its table or sources."),
  }),
  output: outputSchema(savedFileFields),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  positional: "task_id",
  run: async (deps, input, call) => {
    const target = await targetDirectory(input.output_dir, deps.settings.reportsDir, call);
    const now = deps.clock.now();
    const { format, ...options } = input;
    const wanted = { ...options, owner: call.owner };
    const content = await contentOf(deps, wanted, format).catch((error: unknown) =>
      refusedFile(deps, wanted, { error, isMarkdown: format === undefined }),
    );
    const { ending, run } = content;
    const named = { prefix: input.filename_prefix, taskId: run.taskId, ending };
    return saveContent(content, { ...target, named, now });
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

function contentOf(deps: OperationDeps, wanted: WantedFile, format: Format | undefined): Promise<SavedContent> {
  if (format === undefined) return markdownFile(deps, wanted);
  return isTableFormat(format) ? tableAsFile(deps, wanted, format) : bibliographyFile(deps, wanted, format);
}

const isTableFormat = (format: Format): format is TableFormat => TABLE_FORMATS.some((each) => each === format);

/** A caller over the network writes only inside the directory that the server's operator chose (N2). */
async function targetDirectory(
  wanted: string | undefined,
  root: string | undefined,
  { from }: Pick<Call, "from">,
): Promise<Pick<SaveRequest, "directory" | "assertAllowed">> {
  const { outputDirectory } = await import("../reports/files/save-markdown.ts");
  if (from === "here") return { directory: outputDirectory(wanted ?? root ?? DEFAULT_DIRECTORY) };
  if (root === undefined) throw noDirectory();
  const { insideRoot } = await import("../reports/files/allowed-root.ts");
  const base = outputDirectory(root);
  // A relative path is relative to that directory: the caller does not know the working directory of the server.
  const below = wanted ?? ".";
  const directory = below.startsWith("~") ? outputDirectory(below) : resolve(base, below);
  return { directory, assertAllowed: insideRoot(base) };
}

function noDirectory(): AppError {
  return new AppError({
    code: "PERMISSION_DENIED",
    message: "This server does not save reports for callers over the network.",
    suggestion: "The server's operator can set a directory for them with RESEARCH_REPORTS_DIR.",
    next: [{ do: "read" }],
  });
}

/** Not a tool: models use get_research_results. */
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
    const { run, render } = await reportDocument(deps, { owner, task_id });
    const document = reader === "file" ? render() : render(({ n }) => pictureUri(run.taskId, n));
    return { success: true, task_id: run.taskId, status: run.status, document };
  },
  toText: ({ document }) => document,
});
