/**
 * `save_report`: writes a report, its table or its sources to a file that a person names, or that is named by the title.
 * For the terminal only; models have `save_research_to_markdown`, whose input and file names are fixed.
 */

import path from "node:path";
import { z } from "zod";
import { type AppError, invalidInput } from "../errors.ts";
import { tableIn } from "../reports/table/table.ts";
import { getResearchResults } from "./get-research-results.ts";
import { type Call, defineOperation, flagField, type OperationDeps, outputSchema } from "./operation.ts";
import { finishedReport } from "./parts/after-failure.ts";
import { factLines } from "./parts/answer-text.ts";
import {
  ADDITIONS,
  bibliographyFile,
  fileTitle,
  htmlFile,
  markdownFile,
  pathField,
  refusedFile,
  saveContent,
  type SavedContent,
  savedFileFields,
  tableAsFile,
  type WantedFile,
  wordFile,
} from "./parts/report-file.ts";
import { DEFAULT_DIRECTORY, prefixField, saveResearchToMarkdown } from "./save-research-to-markdown.ts";

export const SAVE_FORMATS = ["md", "html", "docx", "json", "csv", "bibtex", "ris", "csl"] as const;
type SaveFormat = (typeof SAVE_FORMATS)[number];

/** What the ending of a name stands for. */
const BY_ENDING: Readonly<Record<string, SaveFormat>> = {
  md: "md",
  markdown: "md",
  html: "html",
  htm: "html",
  docx: "docx",
  json: "json",
  csv: "csv",
  bib: "bibtex",
  ris: "ris",
};

export const saveReport = defineOperation({
  name: "save_report",
  title: "Save a report",
  description: "Saves the report of a run to a file. Free, local.",
  input: saveResearchToMarkdown.input.extend({
    file: pathField("file").optional(),
    filename_prefix: prefixField.optional(),
    replace: flagField("replace").default(false),
    format: z.enum(SAVE_FORMATS, { error: `{format} must be one of ${SAVE_FORMATS.join(", ")}.` }).optional(),
    with: z.array(z.enum(ADDITIONS, { error: `{with} must be ${ADDITIONS.join(", ")}.` })).default([]),
  }),
  output: outputSchema(savedFileFields),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  positional: "task_id",
  run: async (deps, input, call) => {
    const now = deps.clock.now();
    const wanted = { ...input, owner: call.owner };
    const format = input.format ?? formatOf(input.file);
    if (input.with.length > 0 && !["md", "html", "docx"].includes(format)) throw reportOnly();
    const content = await CONTENTS[format](deps, wanted, call).catch((error: unknown) =>
      refusedFile(deps, wanted, { error, isMarkdown: format === "md" }),
    );
    const { outputDirectory } = await import("../reports/files/save-markdown.ts");
    if (input.file !== undefined) {
      const target = outputDirectory(input.file);
      const named = { file: path.basename(target), replaces: input.replace };
      return saveContent(content, { directory: path.dirname(target), named, now });
    }
    const directory = outputDirectory(input.output_dir ?? deps.settings.reportsDir ?? DEFAULT_DIRECTORY);
    const { title, ending, run } = content;
    const { filename_prefix: prefix } = input;
    // With a prefix as `save_research_to_markdown` names files, which scripts may rely on.
    const named = prefix === undefined ? { title, ending } : { prefix, taskId: run.taskId, ending };
    return saveContent(content, { directory, named, now });
  },
  toText: ({ success: _success, ...facts }) => factLines(facts),
});

function formatOf(file: string | undefined): SaveFormat {
  if (file === undefined) return "md";
  const ending = path.extname(file).slice(1).toLowerCase();
  const format = BY_ENDING[ending];
  if (format !== undefined) return format;
  throw invalidInput(`The format of ${path.basename(file)} is not known by its name. Nothing was saved.`, {
    suggestion: `End it in ${Object.keys(BY_ENDING).join(", ")}, or name the format with --format.`,
    field: "file",
  });
}

const reportOnly = (): AppError =>
  invalidInput("Only Markdown, HTML and Word files have verdicts, follow-ups and tables with the report.", {
    field: "with",
  });

const CONTENTS: Record<SaveFormat, (deps: OperationDeps, wanted: WantedFile, call: Call) => Promise<SavedContent>> = {
  md: markdownFile,
  html: htmlFile,
  docx: wordFile,
  json: jsonFile,
  csv: (deps, wanted) => tableAsFile(deps, wanted, "csv"),
  bibtex: (deps, wanted) => bibliographyFile(deps, wanted, "bibtex"),
  ris: (deps, wanted) => bibliographyFile(deps, wanted, "ris"),
  csl: (deps, wanted) => bibliographyFile(deps, wanted, "csl"),
};

/** The report as `get_research_results` answers it, or the table if the run is one. */
async function jsonFile(deps: OperationDeps, wanted: WantedFile, call: Call): Promise<SavedContent> {
  const { owner, task_id, include_sources = true } = wanted;
  const { run, result } = await finishedReport(await deps.database(), owner, task_id);
  if (tableIn(result.metadata) !== undefined) return tableAsFile(deps, wanted, "json");
  const answer = await getResearchResults.run(deps, { task_id, include_sources }, { ...call, wholeReports: true });
  const text = `${JSON.stringify(answer, null, 2)}\n`;
  return { run, result, title: fileTitle(run, result), text, pictures: [], ending: "json" };
}
