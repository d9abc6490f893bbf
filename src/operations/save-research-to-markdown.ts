/** `save_research_to_markdown`: writes a stored report to a Markdown file; `read_report` returns the same document. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { backupOf, finishedReport, refusedByDatabase } from "./parts/after-failure.ts";
import { isoTime } from "../platform/clock.ts";
import type { PictureFacts } from "../reports/pictures/picture.ts";
import { materialSent, materialTexts } from "./view/sent-material.ts";
import { BIBLIOGRAPHY_FILES, BIBLIOGRAPHY_FORMATS } from "../reports/bibliography/bibliography-formats.ts";
import { TABLE_FORMATS, type TableFormat } from "../reports/table/table-files.ts";
import type { ReportMetadata } from "../reports/report-facts.ts";
import type { SaveRequest } from "../reports/files/save-markdown.ts";
import { findPictures } from "../runs/file-store.ts";
import type { Run, StoredResult } from "../runs/run.ts";
import type { Database } from "../store/database.ts";
import { factLines, joinNotes, pictureUri } from "./parts/answer-text.ts";
import { wishesAnswer, wishesIn } from "./question/wishes.ts";
import { factsOf } from "./view/whole-view.ts";
import { type Call, defineOperation, flagField, type OperationDeps, outputSchema, taskIdField } from "./operation.ts";
import { checkedCitationsText } from "./citations/verify-citations.ts";

const DEFAULT_DIRECTORY = "./research_reports";
const MAX_PATH_CHARACTERS = 4_096;
const MAX_PREFIX_CHARACTERS = 1_000;

const FORMATS = [...TABLE_FORMATS, ...BIBLIOGRAPHY_FORMATS] as const;
type Format = (typeof FORMATS)[number];

const pathField = (what: string, maxCharacters: number) =>
  z
    .string({ error: `{${what}} must be a string.` })
    .max(maxCharacters, { error: `{${what}} must have at most ${maxCharacters} characters.` })
    .refine((text) => !text.includes("\0"), { error: `{${what}} must not contain a NUL character.` });

export const saveResearchToMarkdown = defineOperation({
  name: "save_research_to_markdown",
  title: "Save research to Markdown",
  description:
    "Saves the report of a finished run as a Markdown file with sources; a partial one is marked PARTIAL. To read it: get_research_results. Free, local, never overwrites. Returns the path.",
  input: z.strictObject({
    task_id: taskIdField,
    output_dir: pathField("output_dir", MAX_PATH_CHARACTERS)
      .trim()
      .min(1, { error: "{output_dir} must not be empty." })
      .optional()
      .describe("Default: RESEARCH_REPORTS_DIR (over the network always inside it), else ./research_reports."),
    filename_prefix: pathField("filename_prefix", MAX_PREFIX_CHARACTERS)
      .default("research")
      .describe("How the file name begins."),
    include_metadata: flagField("include_metadata").default(true).describe("Write model, times, tokens, cost."),
    include_sources: flagField("include_sources").default(true).describe("Write the sources."),
    format: z
      .enum(FORMATS, { error: `{format} must be one of ${FORMATS.join(", ")}.` })
      .optional()
      .describe("Its table or sources."),
  }),
  output: outputSchema({
    file_path: z.string().describe("Absolute path of the file."),
    filename: z.string(),
    file_size_kb: z.number(),
    created_at: z.string().describe("ISO 8601, UTC."),
    pictures: z.number().describe("Written into a folder beside it."),
    partial: z.boolean().describe("True when the run did not finish: the file is partial."),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  positional: "task_id",
  run: async (deps, input, call) => {
    const target = await targetDirectory(input.output_dir, deps.settings.reportsDir, call);
    const now = deps.clock.now();
    const { format, ...wanted } = input;
    const stored =
      format === undefined
        ? markdownToSave(deps, { ...wanted, owner: call.owner })
        : dataToSave(deps, call, { task_id: wanted.task_id, format });
    const { run, result, text, pictures, ending } = await stored.catch((error: unknown) =>
      refusedReport(deps, call, { ...input, error }),
    );
    const { saveMarkdown } = await import("../reports/files/save-markdown.ts");
    const saved = await saveMarkdown({
      ...target,
      prefix: input.filename_prefix,
      taskId: run.taskId,
      ending,
      text,
      pictures,
      now,
    });
    return {
      success: true,
      task_id: run.taskId,
      file_path: saved.path,
      filename: saved.name,
      file_size_kb: Math.round((saved.bytes / 1024) * 100) / 100,
      created_at: isoTime(now),
      ...(pictures.length > 0 ? { pictures: pictures.length } : {}),
      ...(result.partial ? { partial: true, status: run.status } : {}),
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

async function markdownToSave(deps: OperationDeps, request: DocumentRequest) {
  const { run, result, render } = await reportDocument(deps, request);
  const pictures = (result.pictures ?? []).length === 0 ? [] : await findPictures(await deps.database(), run.taskId);
  const { pictureFileName } = await import("../reports/pictures/publish.ts");
  const text = (folder: string): string =>
    render((picture) => `${encodeURIComponent(folder)}/${pictureFileName(picture)}`);
  return { run, result, text, pictures, ending: "md" as const };
}

/** A report that the database refused, from the file that holds it; otherwise throws the error. */
async function refusedReport(
  deps: OperationDeps,
  { owner }: Call,
  { task_id, format, error }: { task_id: string; format?: Format | undefined; error: unknown },
) {
  if (!(error instanceof AppError) || error.code !== "RESEARCH_NOT_COMPLETED") throw error;
  const run = await deps.findRun(owner, task_id);
  const backup = backupOf(deps, run);
  if (backup === undefined) throw error;
  const text = format === undefined ? await readFile(backup.path, "utf8").catch(() => undefined) : undefined;
  if (text === undefined) throw refusedByDatabase(run, backup);
  return { run, result: { partial: false }, text, pictures: [], ending: "md" as const };
}

/** The sources as a bibliography, or the table. */
async function dataToSave(deps: OperationDeps, call: Call, { task_id, format }: { task_id: string; format: Format }) {
  if (isTableFormat(format)) {
    const { tableDocument } = await import("./parts/table.ts");
    return { ...(await tableDocument(deps, call, { task_id, format })), pictures: [], ending: format };
  }
  const { sourcesFile } = await import("./citations/citations-view.ts");
  const db = await deps.database();
  const finished = await finishedReport(db, call.owner, task_id);
  const { ending } = BIBLIOGRAPHY_FILES[format];
  return { ...finished, text: await sourcesFile(db, finished, format), pictures: [], ending };
}

const isTableFormat = (format: Format): format is TableFormat => TABLE_FORMATS.some((each) => each === format);

interface DocumentRequest {
  owner: string;
  task_id: string;
  include_metadata?: boolean;
  include_sources?: boolean;
}

/** The document of a finished run, with a function that renders it for given links to its pictures. */
export async function reportDocument(deps: OperationDeps, request: DocumentRequest) {
  const { owner, task_id, include_metadata: hasMetadata = true, include_sources: includeSources = true } = request;
  const db = await deps.database();
  const { run, result } = await finishedReport(db, owner, task_id);
  const { renderMarkdown } = await import("../reports/markdown/markdown.ts");
  const metadata = hasMetadata ? await savedMetadata(db, { run, result, now: deps.clock.now() }) : undefined;
  const render = (pictureUrl?: (picture: PictureFacts) => string): string =>
    renderMarkdown(
      {
        query: run.query,
        report: result.report,
        sources: result.sources,
        citations: result.citations,
        partial: result.partial ? run.status : undefined,
        reason: result.partial ? run.error?.message : undefined,
        endedAt: run.completedAt,
        metadata,
        includeSources,
        pictures: result.pictures,
        pictureUrl,
      },
      // The user's own template is used where there is one (N4).
      { own: deps.settings.templatesDir, log: deps.log },
    );
  return { run, result, render };
}

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

function toolOf({ kind, followupContext }: Run): string {
  if (kind !== "agent") return kind;
  return followupContext === undefined ? "start_deep_research" : "ask_followup";
}

/** The metadata of a saved file, with what the check of its citations found: beside the text, never in it. */
export async function savedMetadata(
  db: Database,
  { run, result, now: savedAt }: { run: Run; result: StoredResult; now: number },
): Promise<ReportMetadata> {
  const { verified, verified_in_round: verifiedInRound, verification, note } = factsOf(result);
  return {
    taskId: run.taskId,
    kind: toolOf(run),
    status: run.status,
    mode: run.mode,
    model: run.model,
    startedAt: run.startedAt ?? run.createdAt,
    completedAt: run.completedAt,
    tokens: run.tokens,
    cost: run.cost,
    usageFinal: run.usageFinal,
    verified,
    verifiedInRound,
    verification,
    material: materialTexts(materialSent(run)),
    note: joinNotes([note, wishesAnswer(wishesIn(run.options), result.sources)?.note]),
    savedAt,
    citations: await checkedCitationsText(db, { taskId: run.taskId, report: result.report }),
  };
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
