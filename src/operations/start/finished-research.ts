/** The answer of a call whose research has ended with a report, and the text of such an answer. */

import { costFields } from "../../costs/actual.ts";
import type { StoredRun } from "../../runs/history/read.ts";
import { withExpiry } from "../../reports/link-expiry.ts";
import type { Table } from "../../reports/table/table.ts";
import { resultMetadata, sourceLine } from "../get-research-results.ts";
import {
  picturesIn,
  pictureLines,
  suggestionLines,
  suggestionLinks,
  withPictureLinks,
} from "../parts/answer-extras.ts";
import { factLines, list } from "../parts/answer-text.ts";
import { materialIn, materialLines } from "../parts/material.ts";
import { NO_PLAN } from "../parts/plan.ts";
import { fittingReport, outlineLines } from "../parts/report-reading.ts";
import { wishesIn, wishesMetadata, withWishNote } from "../question/wishes.ts";
import { textOfTable } from "../table/table-answer.ts";

export interface AboutStart {
  joined?: boolean;
  notice?: string;
}

export async function finishedResearch(
  { run, result }: StoredRun,
  { now, inlineCharacters }: { now: number; inlineCharacters: number },
  about: AboutStart,
) {
  const sources = withExpiry(result?.sources ?? [], run.completedAt ?? run.updatedAt);
  const reading =
    result === undefined
      ? { report: "", sources }
      : fittingReport(withPictureLinks(run.taskId, { ...result, sources }), inlineCharacters);
  return {
    success: true,
    task_id: run.taskId,
    status: "completed" as const,
    mode: run.mode ?? "sync",
    results: {
      ...reading,
      ...noteFields(result, reading),
      ...(result === undefined ? {} : picturesIn(run.taskId, result, reading.report)),
      ...(await suggestionLinks(result?.searchSuggestions)),
      metadata: {
        ...resultMetadata(run, sources.length, now),
        ...wishesMetadata(wishesIn(run.options), sources),
      },
    },
    ...costFields(run.cost),
    ...NO_PLAN,
    ...materialIn(run),
    ...about,
  };
}

/** What a gate of the result found comes before how to read on. */
function noteFields(result: StoredRun["result"], { note: reading }: { note?: string | undefined }): { note?: string } {
  const { note: stored } = result?.metadata ?? {};
  const notes = [stored, reading].filter((note) => typeof note === "string");
  return notes.length === 0 ? {} : { note: notes.join(" ") };
}

type Results = Awaited<ReturnType<typeof finishedResearch>>["results"];

/** What the answers to a start and to a follow-up have in common. */
interface ResearchAnswer {
  success: boolean;
  results?: (Omit<Results, "report"> & { report?: string | undefined; table?: Table | undefined }) | undefined;
  plan?: string | undefined;
  material?: ReturnType<typeof materialIn>["material"];
}

export function researchText({ results, plan, material, success: _success, ...facts }: ResearchAnswer): string {
  if (results === undefined) {
    return [...(plan === undefined ? [] : [plan]), ...materialLines(material), factLines(facts)].join("\n\n");
  }
  const { report, table, outline, sources, metadata, pictures, search_suggestions, ...rest } = results;
  const lists = [
    ...outlineLines(outline),
    ...pictureLines(pictures),
    ...list("Sources", sources.map(sourceLine)),
    ...suggestionLines(search_suggestions),
    ...materialLines(material),
  ];
  const figures = factLines({ ...facts, ...rest, ...withWishNote(metadata) });
  return [textOfTable({ report, table }) ?? "", ...lists, figures].join("\n\n");
}
