/** `view_report`: a finished report in the forms that the run card of an MCP App needs. Not for models. */

import { z } from "zod";
import { AppError } from "../../errors.ts";
import { CAUTION, defineOperation, type OperationDeps, outputSchema, taskIdField } from "../../operations/operation.ts";
import { reportPage } from "../../operations/parts/report-html.ts";
import { fileTitle, reportDocument } from "../../operations/parts/report-file.ts";
import { titledFileName } from "../../reports/files/file-name.ts";
import { readStored } from "../../runs/history/read.ts";
import { findPicture } from "../../runs/file-store.ts";
import type { ReportForms } from "../wire.ts";
import { oneLine } from "../../platform/clean-text.ts";
import type { Source } from "../../reports/report.ts";
import { outlineOf, sectionsOf } from "../../reports/sections.ts";

const FORMS = ["html", "picture", "markdown", "summary"] as const;
const N_ERROR = "{n} must be a whole number from 0 to 9999.";

export const viewReport = defineOperation({
  name: "view_report",
  title: "View a report",
  description: "Returns the report of a run for the card that shows it in the chat. Free, local.",
  input: z.strictObject({
    task_id: taskIdField,
    form: z.enum(FORMS, { error: `{form} must be one of ${FORMS.join(", ")}.` }).default("html"),
    n: z
      .int({ error: N_ERROR })
      .min(0, { error: N_ERROR })
      .max(9_999, { error: N_ERROR })
      .default(0)
      .describe("The part of the HTML, or the number of the picture."),
  }),
  output: outputSchema({
    report: z.looseObject({}).describe("With part 0 of the HTML: what else there is to show."),
    html: z.string(),
    mime_type: z.string(),
    data: z.string().describe("A picture in base64."),
    document: z.string(),
    file_name: z.string(),
    summary: z.string().describe("A short text for the model's context."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  run: async (deps, { form, ...wanted }, { owner }) => ({
    success: true,
    task_id: wanted.task_id,
    ...(await READERS[form](deps, { ...wanted, owner })),
  }),
  toText: ({ task_id }) => `The report of run ${task_id}, for its card.`,
});

interface Wanted {
  owner: string;
  task_id: string;
  n: number;
}

type Reader = (deps: OperationDeps, wanted: Wanted) => Promise<Partial<ReportForms[keyof ReportForms]>>;

const READERS: Record<keyof ReportForms, Reader> = {
  html: async (deps, { n, ...wanted }) => {
    const { suggestions, parts, ...report } = await reportPage(await deps.database(), wanted);
    const html = parts[n];
    if (n > 0) {
      if (html === undefined) throw missing("This report has no such part.");
      return { html };
    }
    const markup = suggestions === undefined ? {} : { suggestions: { html: suggestions.html } };
    return { report: { ...report, html: html ?? "", more_parts: parts.length - 1, ...markup } };
  },
  // Reads the run first, which fails for any caller but its owner.
  picture: async (deps, { owner, task_id, n }) => {
    const { taskId } = await deps.findRun(owner, task_id);
    const picture = await findPicture(await deps.database(), taskId, n);
    if (picture === undefined) throw missing("This report has no such picture.");
    return { mime_type: picture.mimeType, data: Buffer.from(picture.content).toString("base64") };
  },
  markdown: async (deps, wanted) => {
    const { run, result, render } = await reportDocument(deps, wanted);
    return { document: render(), file_name: titledFileName({ title: fileTitle(run, result), ending: "md" }, 1) };
  },
  summary: async (deps, { owner, task_id }) => {
    const { run, result } = await readStored(await deps.database(), owner, task_id);
    if (result === undefined) throw missing("This run has no report.");
    return { summary: modelSummary({ ...run, ...result }) };
  },
};

const missing = (message: string): AppError =>
  new AppError({ code: "INVALID_INPUT", message, details: { status: 400, field: "n" } });

const MAX_OPENING_CHARACTERS = 1_200;
const MAX_SECTIONS = 20;

interface Summarised {
  taskId: string;
  query: string;
  report: string;
  sources: readonly Source[];
  partial: boolean;
}

/** Question, opening and sections, and how to read the rest: a whole report would fill the context. */
export function modelSummary({ taskId, query, report, sources, partial }: Summarised): string {
  const sections = outlineOf(sectionsOf(report)).slice(0, MAX_SECTIONS);
  return [
    `The user chose this research for the conversation. ${CAUTION}`,
    `Question: ${oneLine(query)}`,
    `task_id: ${taskId}${partial ? " (partial report)" : ""}, ${report.length} characters, ${sources.length} sources`,
    ...(sections.length < 2
      ? []
      : [`Sections: ${sections.map(({ section, title }) => `${section} ${oneLine(title)}`).join("; ")}`]),
    `Opening: ${openingOf(report)}`,
    "get_research_results with this task_id reads all of it, or one section.",
  ].join("\n");
}

function openingOf(report: string): string {
  const text = oneLine(report.replaceAll(/^#{1,6}\s+.*$/gm, ""));
  const characters = Array.from(text);
  return characters.length <= MAX_OPENING_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_OPENING_CHARACTERS).join("")}…`;
}
