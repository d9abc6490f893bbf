/** Renders the answers that contain a report: searches, finished research and stored results. */

import { laterConflicts } from "../../../claims/evidence.ts";
import type { deepResearch } from "../../../operations/deep-research.ts";
import type { deepSearchOperation } from "../../../operations/deep-search.ts";
import type { Results } from "../../../operations/get-research-results.ts";
import type { OutputOf } from "../../../operations/operation.ts";
import { materialTexts } from "../../../operations/view/sent-material.ts";
import type { search } from "../../../operations/search.ts";
import { oneLine } from "../../../platform/clean-text.ts";
import { countOf } from "../../../platform/count.ts";
import { type Document, locatedDocument, numberedDocument } from "../../../reports/document/document.ts";
import { citeByNumber } from "../../../reports/document/numbered.ts";
import { withExpiry } from "../../../reports/link-expiry.ts";
import { numberSources, type Source } from "../../../reports/report.ts";
import type { Table } from "../../../reports/table/table.ts";
import { type Verification, verificationLine } from "../../../reports/verification.ts";
import {
  type AnswerSpace,
  approvalLine,
  commandFor,
  idFor,
  planCommands,
  shortId,
  type StoredReport,
} from "../answer-view.ts";
import { stateOf } from "../run-frame.ts";
import { cutToWidth } from "../text-width.ts";
import { type Remark, reportView } from "./report-view.ts";

type SearchAnswer = OutputOf<typeof search>;
type DeepSearchAnswer = OutputOf<typeof deepSearchOperation>;
type DeepResearchAnswer = OutputOf<typeof deepResearch>;

const MINUTE_MS = 60_000;

const noteRemarks = (note: string | undefined): Remark[] =>
  note === undefined ? [] : [{ text: note, style: "careful" }];

/** Wishes are not enforced, which the reader has to know. */
const wishRemarks = (wishes: { note: string } | undefined): Remark[] =>
  wishes === undefined ? [] : [{ text: wishes.note, style: "faint" }];

const saving = (taskId: string): readonly [string, string] => ["Save it", `save ${shortId(taskId)}`];

const finished = (taskId: string): [string, string][] => [
  ["Save it", `save ${shortId(taskId)}`],
  ["In the browser", `open ${shortId(taskId)}`],
  ["Ask about it", `followup ${shortId(taskId)} …`],
];

const savingTable = (taskId: string): [string, string][] => [
  ["For a spreadsheet", `save ${shortId(taskId)} --format csv`],
  ["In the browser", `open ${shortId(taskId)}`],
];

export const searchView = ({ result, ...answer }: SearchAnswer, space: AnswerSpace): Promise<string> =>
  searchedView({ report: result, ...answer }, [], space);

export const deepResearchView = (answer: DeepResearchAnswer, space: AnswerSpace): Promise<string> =>
  searchedView(answer, [], space);

export function deepSearchView(answer: DeepSearchAnswer, space: AnswerSpace): Promise<string> {
  const { result, verified, verified_in_round, verification: claims, ...rest } = answer;
  const { iterations } = answer.metadata;
  const searched = countOf(iterations, "round");
  const remark: Remark = verified
    ? { text: `✓ Verified in round ${verified_in_round ?? iterations}`, style: "good" }
    : { text: `Not verified after ${searched}`, style: "careful" };
  return searchedView({ report: result, ...rest }, [remark, ...claimRemarks(claims)], space);
}

const claimRemarks = (claims: Verification | undefined): Remark[] =>
  claims === undefined ? [] : [{ text: verificationLine(claims), style: "faint" }];

type Searched = Pick<DeepResearchAnswer, "report" | "note"> & {
  metadata: Omit<SearchAnswer["metadata"], "query">;
};

async function searchedView(
  { report, note, metadata }: Searched,
  remarks: readonly Remark[],
  space: AnswerSpace,
): Promise<string> {
  const {
    task_id,
    duration_ms,
    tokens_used: tokens,
    model,
    search_suggestions: suggestions,
    notices = [],
    wishes,
  } = metadata;
  const sources = withExpiry(
    titledSources(metadata.sources_visited, await space.stored(task_id)),
    Date.parse(metadata.timestamp),
  );
  return reportView(
    {
      taskId: task_id,
      text: numberedDocument(report, sources),
      sources,
      suggestions,
      remarks: [
        ...remarks,
        ...noteRemarks(note),
        ...notices.flatMap((notice) => noteRemarks(notice)),
        ...wishRemarks(wishes),
      ],
      figures: { ...metadata, durationMs: duration_ms, tokens, model },
      next: [saving(task_id)],
    },
    space,
  );
}

/** The pages of an answer, by number, with the titles that are stored. */
function titledSources(urls: readonly string[], stored: StoredReport | undefined): Source[] {
  // The answer leaves out some that its report does not cite.
  if (stored !== undefined) return citeByNumber(stored.report, stored.sources).sources;
  return numberSources(urls.map((url) => ({ url, title: "" })));
}

export async function resultsView(output: Results, space: AnswerSpace): Promise<string> {
  if (output.plan !== undefined) return plannedView(output, output.plan, space);
  const { task_id: taskId, partial, note, outline = [], metadata, search_suggestions: suggestions } = output;
  const { duration_minutes, tokens_used: tokens, model } = metadata;
  const stored = await space.stored(taskId);
  const isPart = output.section !== undefined || output.complete === false;
  return reportView(
    {
      taskId,
      text: textOf(output, stored, space),
      warnings: [
        ...(partial === true ? ["Partial report: the run ended before it was finished."] : []),
        ...conflictWarnings(output),
      ],
      continues: parentLine(output, space),
      parts: [...(outline.length === 0 ? [] : [outlineText(outline)]), ...followUpLines(output, space)],
      sources: output.sources && withExpiry(output.sources, Date.parse(metadata.completed_at ?? metadata.started_at)),
      // They belong to the text, and an outline is none.
      suggestions: output.report === undefined && output.table === undefined ? undefined : suggestions,
      remarks: [
        ...verification(output),
        ...contextRemarks(output),
        ...(output.note_of_user === undefined
          ? []
          : [{ text: `Your note: ${output.note_of_user}`, style: "faint" as const }]),
        ...noteRemarks(note),
        ...wishRemarks(metadata.wishes),
        ...materialRemarks(output),
        ...pictureRemarks(output),
      ],
      figures: { ...metadata, durationMs: duration_minutes * MINUTE_MS, tokens, model },
      next: [
        // Of a deep search that ended early.
        ...(partial === true && output.verified !== undefined ? [commandFor({ do: "continue" }, taskId)] : []),
        ...(isPart ? readingOn(output) : output.table === undefined ? finished(taskId) : savingTable(taskId)),
      ],
    },
    space,
  );
}

/** Before the text: it should not be used as it is. */
function conflictWarnings({ task_id: taskId, citations_checked: checked }: Results): string[] {
  const { conflicts = [] } = checked ?? {};
  if (!Array.isArray(conflicts) || conflicts.length === 0) return [];
  return [`A cited page says something else than the report: check ${shortId(taskId)}`];
}

function parentLine({ follow_up_of: parent }: Results, space: AnswerSpace): string | undefined {
  if (parent === undefined) return undefined;
  const about = parent.query === "" ? "" : `: ${oneLine(parent.query)}`;
  return `Follow-up to ${idFor(parent.task_id, space)}${about}`;
}

function followUpLines({ follow_ups: followUps = [] }: Results, space: AnswerSpace): string[] {
  if (followUps.length === 0) return [];
  const lines = followUps.map(({ task_id, query, status }) => {
    const line = `${idFor(task_id, space)}  ${stateOf(status).label}  ${oneLine(query)}`;
    return space.width === undefined ? line : cutToWidth(line, space.width);
  });
  return [`Follow-ups:\n${lines.join("\n")}`];
}

const CONTEXTS: Record<NonNullable<Results["context"]>, string> = {
  google: "Answered by continuing the conversation at Google.",
  stored_report: "Answered with the stored report as context.",
};

const contextRemarks = ({ context }: Results): Remark[] =>
  context === undefined ? [] : [{ text: CONTEXTS[context], style: "faint" }];

function plannedView(output: Results, plan: string, space: AnswerSpace): string {
  const { task_id: taskId, status, note, metadata, estimated_cost: cost } = output;
  const { duration_minutes, tokens_used: tokens, model } = metadata;
  const isWaiting = status === "awaiting_approval";
  return reportView(
    {
      taskId,
      text: numberedDocument(plan, []),
      sources: undefined,
      remarks: [...noteRemarks(note), ...(isWaiting ? [{ text: approvalLine(cost), style: "careful" as const }] : [])],
      figures: { ...metadata, durationMs: duration_minutes * MINUTE_MS, tokens, model },
      next: isWaiting ? planCommands(taskId) : [],
    },
    space,
  );
}

const materialRemarks = ({ material }: Results): Remark[] =>
  materialTexts(material).map((text) => ({ text: `Sent with the question: ${oneLine(text)}`, style: "faint" }));

/** A terminal shows only where they are in the text. */
function pictureRemarks({ pictures = [] }: Results): Remark[] {
  if (pictures.length === 0) return [];
  return [
    {
      text: `${countOf(pictures.length, "picture")}: saved beside the report, or shown when you open it in the browser.`,
      style: "faint",
    },
  ];
}

/** On a terminal the whole report of an agent is read from the store: only there its citations have positions. */
function textOf(output: Results, stored: StoredReport | undefined, { width }: AnswerSpace): Document | undefined {
  const { sources, section, complete } = output;
  // Of a table the answer has the data, and the store its text.
  const report = output.table === undefined ? output.report : stored?.report;
  if (report === undefined) return undefined;
  const citations = stored?.citations ?? [];
  if (sources === undefined) return numberedDocument(report, []);
  if (stored === undefined || citations.length === 0) return numberedDocument(report, sources);
  const isWhole = (section === undefined || section === "all") && complete !== false;
  return isWhole && width !== undefined ? locatedDocument({ ...stored, citations }) : numberedDocument(report, sources);
}

function verification({
  verified,
  verified_in_round: round,
  verification: claims,
  citations_checked: checked,
}: Results): Remark[] {
  if (verified === undefined) return [];
  if (!verified) return [{ text: "Not verified", style: "careful" }, ...claimRemarks(claims)];
  const later = laterConflicts(checked?.conflict);
  const text = `Verified${round === undefined ? "" : ` in round ${round}`}${later}`;
  const remark: Remark = later === "" ? { text: `✓ ${text}`, style: "good" } : { text, style: "careful" };
  return [remark, ...claimRemarks(claims)];
}

function outlineText(outline: NonNullable<Results["outline"]>): string {
  const widest = Math.max(...outline.map(({ section }) => section.length));
  return outline.map(({ section, title }) => `${section.padEnd(widest)}  ${title}`).join("\n");
}

function readingOn({ task_id: taskId, next_section: next, outline }: Results): [string, string][] {
  const show = `show ${shortId(taskId)}`;
  if (outline !== undefined)
    return [["Read a section", `${show} --section ${(outline[1] ?? outline[0])?.section ?? "1"}`]];
  return next === undefined ? [["The whole report", show]] : [["Read on", `${show} --section ${next}`]];
}

export interface ShownTable {
  table?: Table | undefined;
  report?: string | undefined;
  sources?: readonly Source[] | undefined;
  query: string;
}

/** A table as CSV; an answer that is no table is printed as it is. */
export async function csvView({ table, report = "", sources = [], query }: ShownTable): Promise<string> {
  if (table === undefined) return report;
  const { tableCsv } = await import("../../../reports/table/table-files.ts");
  return tableCsv({ query, table, sources }).trimEnd();
}
