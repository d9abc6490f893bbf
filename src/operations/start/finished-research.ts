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
import type { AnswerLimit } from "../operation.ts";
import { fitAnswer } from "../reading/answer-limit.ts";
import { fittingReport, outlineLines, type Room, withUrlsOnce } from "../reading/report-reading.ts";
import { wishesIn, wishesMetadata, withWishNote } from "../question/wishes.ts";
import { textOfTable } from "../table/table-answer.ts";

export interface AboutStart {
  joined?: boolean;
  notice?: string;
}

export async function finishedResearch(
  { run, result }: StoredRun,
  { now, limit }: { now: number; limit: AnswerLimit },
  about: AboutStart,
): Promise<FinishedResearch> {
  const suggestions = await suggestionLinks(result?.searchSuggestions);
  const sources = withExpiry(result?.sources ?? [], run.completedAt ?? run.updatedAt);
  const shown = result && (await withUrlsOnce(withPictureLinks(run.taskId, { ...result, sources })));
  const parts = { run, result: shown, suggestions, about, now };
  return fitAnswer(limit, { build: (room) => answerWith(parts, room), toText: researchText });
}

interface AnswerParts {
  run: StoredRun["run"];
  /** As it is shown. */
  result: StoredRun["result"];
  suggestions: Awaited<ReturnType<typeof suggestionLinks>>;
  about: AboutStart;
  now: number;
}

function answerWith({ run, result, suggestions, about, now }: AnswerParts, room: Room) {
  const { sources = [] } = result ?? {};
  const reading = result === undefined ? { report: "", sources } : fittingReport(result, room);
  return {
    success: true,
    task_id: run.taskId,
    status: "completed" as const,
    mode: run.mode ?? "sync",
    results: {
      ...reading,
      ...noteFields(result, reading),
      ...(result === undefined ? {} : picturesIn(run.taskId, result, reading.report)),
      ...suggestions,
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

type FinishedResearch = ReturnType<typeof answerWith>;

/** What a gate of the result found comes before how to read on. */
function noteFields(result: StoredRun["result"], { note: reading }: { note?: string | undefined }): { note?: string } {
  const { note: stored } = result?.metadata ?? {};
  const notes = [stored, reading].filter((note) => typeof note === "string");
  return notes.length === 0 ? {} : { note: notes.join(" ") };
}

type Results = FinishedResearch["results"];

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
