/** A stored report as a file, in each format that it is saved in: by `save_research_to_markdown`, `save_report` and the page. */

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { laterConflicts } from "../../claims/evidence.ts";
import { AppError } from "../../errors.ts";
import { isoTime } from "../../platform/clock.ts";
import { BIBLIOGRAPHY_FILES, type BibliographyFormat } from "../../reports/bibliography/bibliography-formats.ts";
import { headingOf } from "../../reports/document/lines.ts";
import type { FileEnding } from "../../reports/files/file-name.ts";
import type { SaveRequest } from "../../reports/files/save-markdown.ts";
import type { Picture, PictureFacts } from "../../reports/pictures/picture.ts";
import type { EmbeddingFile, ReportFile, ReportMetadata } from "../../reports/report-facts.ts";
import type { TableFormat } from "../../reports/table/table-files.ts";
import { findPictures } from "../../runs/file-store.ts";
import { readStored } from "../../runs/history/read.ts";
import { isTableStart } from "../../runs/start/start-options.ts";
import { IMPORTED, type Run, type StoredResult } from "../../runs/run.ts";
import type { Database } from "../../store/database.ts";
import { checkedCitations, summaryLine } from "../citations/verify-citations.ts";
import type { OperationDeps } from "../operation.ts";
import { wishesAnswer, wishesIn } from "../question/wishes.ts";
import { materialSent, materialTexts } from "../view/sent-material.ts";
import { factsOf } from "../view/whole-view.ts";
import { backupOf, finishedReport, refusedByDatabase } from "./after-failure.ts";
import { joinNotes } from "./answer-text.ts";

export interface WantedFile {
  owner: string;
  task_id: string;
  include_metadata?: boolean;
  include_sources?: boolean;
  /** Default: the report alone. */
  with?: readonly Addition[] | undefined;
}

export const ADDITIONS = ["verdicts", "followups", "tables"] as const;
type Addition = (typeof ADDITIONS)[number];

/** What is saved, before it has a name. */
export interface SavedContent {
  run: Run;
  result: Pick<StoredResult, "partial">;
  title: string;
  /** A function receives the name of the folder with the pictures. */
  text: string | Uint8Array | ((picturesFolder: string) => string);
  /** Saved beside the file. */
  pictures: readonly Picture[];
  ending: FileEnding;
}

export const savedFileFields = {
  file_path: z.string().describe("Absolute path of the file."),
  filename: z.string(),
  file_size_kb: z.number(),
  created_at: z.string().describe("ISO 8601, UTC."),
  pictures: z.number().describe("Written into a folder beside it."),
  partial: z.boolean().describe("True when the run did not finish: the file is partial."),
};

/** Writes the file, and returns the answer about it. */
export async function saveContent(
  { run, result, text, pictures }: SavedContent,
  target: Pick<SaveRequest, "directory" | "named" | "now" | "assertAllowed">,
) {
  const { saveMarkdown } = await import("../../reports/files/save-markdown.ts");
  const saved = await saveMarkdown({ ...target, text, pictures });
  return {
    success: true,
    task_id: run.taskId,
    file_path: saved.path,
    filename: saved.name,
    file_size_kb: Math.round((saved.bytes / 1024) * 100) / 100,
    created_at: isoTime(target.now),
    ...(pictures.length > 0 ? { pictures: pictures.length } : {}),
    ...(result.partial ? { partial: true, status: run.status } : {}),
  };
}

const MAX_PATH_CHARACTERS = 4_096;

export const textField = (name: string, maxCharacters: number) =>
  z
    .string({ error: `{${name}} must be a string.` })
    .max(maxCharacters, { error: `{${name}} must have at most ${maxCharacters} characters.` })
    .refine((text) => !text.includes("\0"), { error: `{${name}} must not contain a NUL character.` });

export const pathField = (name: string) =>
  textField(name, MAX_PATH_CHARACTERS)
    .trim()
    .min(1, { error: `{${name}} must not be empty.` });

async function reportFile(deps: OperationDeps, wanted: WantedFile) {
  const { owner, task_id, include_metadata: hasMetadata = true } = wanted;
  const db = await deps.database();
  const { run, result } = await finishedReport(db, owner, task_id);
  const file: ReportFile = {
    query: run.query,
    title: run.title,
    report: result.report,
    sources: result.sources,
    citations: result.citations,
    partial: result.partial ? run.status : undefined,
    reason: result.partial ? run.error?.message : undefined,
    endedAt: run.completedAt,
    metadata: hasMetadata ? await savedMetadata(db, { run, result, now: deps.clock.now() }) : undefined,
    further: wanted.with?.length ? await furtherTexts(deps, { run, result }, wanted.with) : undefined,
  };
  return { db, run, result, file };
}

/** Verdicts first, which are about the report; then what was asked and made after it, in that order. */
async function furtherTexts(
  deps: OperationDeps,
  { run, result }: { run: Run; result: StoredResult },
  wanted: readonly Addition[],
): Promise<ReportFile["further"]> {
  const db = await deps.database();
  const { joinSources, verdictsText } = await import("../../reports/further-text.ts");
  const { listed, texts } = joinSources(result.sources, await laterTexts(db, run, wanted));
  if (!wanted.includes("verdicts")) return { listed, texts };
  const { readCitations, verdictRows } = await import("../../verification/read-citations.ts");
  const citations = await readCitations({ db, log: deps.log }, { taskId: run.taskId, result });
  return { listed, texts: [verdictsText(verdictRows(citations)), ...texts] };
}

async function laterTexts(db: Database, run: Run, wanted: readonly Addition[]) {
  if (!wanted.includes("followups") && !wanted.includes("tables")) return [];
  const { laterTurns } = await import("../followup/conversation.ts");
  const texts = [];
  for (const turn of await laterTurns(db, run)) {
    const { result } = await readStored(db, run.owner, turn.taskId);
    const isTable = isTableStart(turn.options);
    if (result === undefined || !wanted.includes(isTable ? "tables" : "followups")) continue;
    const heading = isTable ? fileTitle(turn, result) : `Follow-up: ${turn.title ?? turn.query}`;
    texts.push({ heading, report: result.report, sources: result.sources, citations: result.citations });
  }
  return texts;
}

/** The Markdown document of a finished run, as a function of the links to its pictures. */
export async function reportDocument(deps: OperationDeps, wanted: WantedFile) {
  const { run, result, file } = await reportFile(deps, wanted);
  const { renderMarkdown } = await import("../../reports/markdown/markdown.ts");
  const { include_sources: includeSources = true } = wanted;
  const { pictures } = result;
  const render = (pictureUrl?: (picture: PictureFacts) => string): string =>
    renderMarkdown(
      { ...file, includeSources, pictures, pictureUrl },
      // The user's own template is used where there is one (N4).
      { own: deps.settings.templatesDir, log: deps.log },
    );
  return { run, result, render };
}

/** The user's own title, else the report's, else the question. */
export function fileTitle({ title, query }: Run, { report }: Pick<StoredResult, "report">): string {
  const [first = ""] = report.trimStart().split("\n", 1);
  const heading = headingOf(first);
  return title ?? ((heading?.level === 1 ? heading.title.trim() : "") || query);
}

export async function markdownFile(deps: OperationDeps, wanted: WantedFile): Promise<SavedContent> {
  const { run, result, render } = await reportDocument(deps, wanted);
  const pictures = (result.pictures ?? []).length === 0 ? [] : await findPictures(await deps.database(), run.taskId);
  const { pictureFileName } = await import("../../reports/pictures/publish.ts");
  const text = (folder: string): string =>
    folder === ""
      ? render()
      : render(
          (picture) => `${encodeURIComponent(folder).replaceAll(/[()]/g, escapedByte)}/${pictureFileName(picture)}`,
        );
  return { run, result, title: fileTitle(run, result), text, pictures, ending: "md" };
}

/** Of parentheses, which `encodeURIComponent` leaves, and which end the address of a link. */
const escapedByte = (character: string): string => `%${character.charCodeAt(0).toString(16)}`;

/** With its pictures in it. */
const embeddingFile =
  (ending: "html" | "docx", render: (file: EmbeddingFile) => Promise<string | Uint8Array>) =>
  async (deps: OperationDeps, wanted: WantedFile): Promise<SavedContent> => {
    const { db, run, result, file } = await reportFile(deps, wanted);
    const { include_sources: includeSources = true } = wanted;
    const { searchSuggestions } = result;
    const pictures = await findPictures(db, run.taskId);
    const text = await render({ ...file, includeSources, searchSuggestions, pictures });
    return { run, result, title: fileTitle(run, result), text, pictures: [], ending };
  };

export const htmlFile = embeddingFile("html", async (file) =>
  (await import("../../reports/html/document.ts")).renderHtmlDocument(file),
);

/** For Word and its like. */
export const wordFile = embeddingFile("docx", async (file) =>
  (await import("../../reports/docx/document.ts")).renderDocx(file),
);

/** The table of a report as data. */
export async function tableAsFile(
  deps: OperationDeps,
  { owner, task_id }: Pick<WantedFile, "owner" | "task_id">,
  format: TableFormat,
): Promise<SavedContent> {
  const { tableDocument } = await import("./table.ts");
  const made = await tableDocument(deps, { owner }, { task_id, format });
  return { ...made, title: fileTitle(made.run, made.result), pictures: [], ending: format };
}

/** The sources as a bibliography. */
export async function bibliographyFile(
  deps: OperationDeps,
  { owner, task_id }: Pick<WantedFile, "owner" | "task_id">,
  format: BibliographyFormat,
): Promise<SavedContent> {
  const { sourcesFile } = await import("../citations/citations-view.ts");
  const db = await deps.database();
  const { run, result } = await finishedReport(db, owner, task_id);
  const { ending } = BIBLIOGRAPHY_FILES[format];
  const text = await sourcesFile(db, { run, result }, format);
  return { run, result, title: fileTitle(run, result), text, pictures: [], ending };
}

/** A report that the database refused, from the Markdown file that holds it; otherwise throws the error. */
export async function refusedFile(
  deps: OperationDeps,
  { owner, task_id }: Pick<WantedFile, "owner" | "task_id">,
  { error, isMarkdown }: { error: unknown; isMarkdown: boolean },
): Promise<SavedContent> {
  if (!(error instanceof AppError) || error.code !== "RESEARCH_NOT_COMPLETED") throw error;
  const run = await deps.findRun(owner, task_id);
  const backup = backupOf(deps, run);
  if (backup === undefined) throw error;
  const text = isMarkdown ? await readFile(backup.path, "utf8").catch(() => undefined) : undefined;
  if (text === undefined) throw refusedByDatabase(run, backup);
  return { run, result: { partial: false }, title: fileTitle(run, { report: "" }), text, pictures: [], ending: "md" };
}

function toolOf({ backend, kind, followupContext }: Run): string {
  if (backend === IMPORTED) return IMPORTED;
  if (kind !== "agent") return kind;
  return followupContext === undefined ? "start_deep_research" : "ask_followup";
}

/** The metadata of a saved file, with what the check of its citations found: beside the text, never in it. */
async function savedMetadata(
  db: Database,
  { run, result, now: savedAt }: { run: Run; result: StoredResult; now: number },
): Promise<ReportMetadata> {
  const { verified, verified_in_round: round, verification, note } = factsOf(result);
  const checked = await checkedCitations(db, { taskId: run.taskId, report: result.report });
  const inRound = round === undefined ? "yes" : `yes, in round ${round}`;
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
    verified:
      verified === true ? `${inRound}${laterConflicts(checked?.conflict)}` : verified === false ? "no" : undefined,
    verification,
    material: materialTexts(materialSent(run)),
    note: joinNotes([note, wishesAnswer(wishesIn(run.options), result.sources)?.note]),
    savedAt,
    citations: checked === undefined ? undefined : summaryLine(checked),
  };
}
