/** `save_research_to_markdown`: a stored report as a file of the user's own. */

import { z } from "zod";
import { AppError } from "../errors.ts";
import { isoTime } from "../platform/clock.ts";
import type { ReportMetadata } from "../reports/markdown.ts";
import { readStored } from "../runs/read.ts";
import { isFinished, type Run, type RunResult } from "../runs/run.ts";
import { factLines } from "./answer-text.ts";
import { defineOperation, outputSchema, taskId } from "./operation.ts";

const DEFAULT_DIRECTORY = "./research_reports";
const LONGEST_PATH = 4_096;
const LONGEST_PREFIX = 1_000;

const pathText = (what: string, most: number) =>
  z
    .string({ error: `${what} must be a text.` })
    .max(most, { error: `${what} must have at most ${most} characters.` })
    .refine((text) => !text.includes("\0"), { error: `${what} must not contain a NUL character.` });

const yesNo = (what: string) => z.boolean({ error: `${what} must be true or false.` }).default(true);

export const saveResearchToMarkdown = defineOperation({
  name: "save_research_to_markdown",
  title: "Save research to Markdown",
  description:
    "Saves the stored report of a finished run as a Markdown file with title, metadata and numbered sources. Use it to keep or share a report; to read one, use get_research_results. A run that failed or was cancelled is saved as far as it came, marked PARTIAL in the first line; one that is still going on is an error with its status. Local and free: no model is asked, no key needed. Never overwrites a file. Returns the absolute path.",
  input: z.strictObject({
    task_id: taskId,
    output_dir: pathText("output_dir", LONGEST_PATH)
      .trim()
      .min(1, { error: "output_dir must not be empty." })
      .optional()
      .describe(
        "Directory for the reports; created if needed, with a folder per month in it. Default: the setting RESEARCH_REPORTS_DIR, else ./research_reports.",
      ),
    filename_prefix: pathText("filename_prefix", LONGEST_PREFIX)
      .default("research")
      .describe("How the file name begins; letters, digits, - and _ are kept."),
    include_metadata: yesNo("include_metadata").describe("Whether query, model, times, tokens and cost are written."),
    include_sources: yesNo("include_sources").describe("Whether the numbered list of sources is written."),
  }),
  output: outputSchema({
    file_path: z.string().describe("Absolute path of the file."),
    filename: z.string(),
    file_size_kb: z.number(),
    created_at: z.string().describe("ISO 8601, UTC."),
    partial: z.boolean().describe("True when the run did not finish and the file holds what it had."),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  positional: "task_id",
  run: async (deps, input, call) => {
    const { run, result } = await readStored(await deps.database(), call.owner, input.task_id);
    if (result === undefined || !isFinished(run.status)) throw nothingToSave(run);
    const { renderMarkdown } = await import("../reports/markdown.ts");
    const { outputDirectory, saveMarkdown } = await import("../reports/save-markdown.ts");
    const now = deps.clock.now();
    const text = renderMarkdown({
      query: run.query,
      report: result.report,
      sources: result.sources,
      partial: result.partial ? run.status : undefined,
      metadata: input.include_metadata ? reportMetadata(run, result, now) : undefined,
      includeSources: input.include_sources,
    });
    const saved = await saveMarkdown({
      directory: outputDirectory(input.output_dir ?? deps.settings.reportsDir ?? DEFAULT_DIRECTORY),
      prefix: input.filename_prefix,
      taskId: run.taskId,
      text,
      now,
    });
    return {
      success: true,
      task_id: run.taskId,
      file_path: saved.path,
      filename: saved.name,
      file_size_kb: Math.round((saved.bytes / 1024) * 100) / 100,
      created_at: isoTime(now),
      ...(result.partial ? { partial: true, status: run.status } : {}),
    };
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

function reportMetadata(run: Run, { metadata }: RunResult, savedAt: number): ReportMetadata {
  const { verified, note } = metadata;
  return {
    taskId: run.taskId,
    kind: run.kind === "agent" ? "start_deep_research" : run.kind,
    status: run.status,
    mode: run.mode,
    model: run.model,
    startedAt: run.startedAt ?? run.createdAt,
    completedAt: run.completedAt,
    tokens: run.tokens,
    costUsd: run.costUsd,
    usageFinal: run.usageFinal,
    verified: typeof verified === "boolean" ? verified : undefined,
    note: typeof note === "string" ? note : undefined,
    savedAt,
  };
}

function nothingToSave(run: Run): AppError {
  const about = { task_id: run.taskId, status: run.status, progress: run.progress };
  if (!isFinished(run.status)) {
    return new AppError({
      code: "RESEARCH_NOT_COMPLETED",
      message: `This run is not finished (${run.status}), so there is no report to save yet.`,
      suggestion: "check_research_status says how far it is. Save it when it is completed.",
      run: about,
    });
  }
  if (run.status === "failed") {
    return new AppError({
      code: "RESEARCH_FAILED",
      message: "This run failed and left no text that could be saved.",
      suggestion: "Ask the question again.",
      details: { reason: run.error?.code },
      run: about,
    });
  }
  return new AppError({
    code: "RESEARCH_NOT_COMPLETED",
    message: `This run left no text that could be saved (${run.status}).`,
    suggestion: "Ask the question again.",
    run: about,
  });
}
