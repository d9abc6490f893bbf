/** The answer of a call whose research has ended with a report, and the text of such an answer. */

import type { Table } from "../../reports/table/table.ts";
import { joinNotes, picturesIn, reportText } from "../parts/answer-text.ts";
import type { SentMaterial } from "../view/sent-material.ts";
import { NO_PLAN } from "../parts/plan.ts";
import type { AnswerLimit } from "../operation.ts";
import { fitAnswer, fittingReport, type Room } from "../reading/report-reading.ts";
import { withWishNote } from "../question/wishes.ts";
import { resultMetadata, type RunWhole } from "../view/whole-view.ts";

interface AboutStart {
  joined?: boolean;
  notice?: string;
}

export const finishedResearch = (run: RunWhole, limit: AnswerLimit, about: AboutStart): FinishedResearch =>
  fitAnswer(limit, { build: (room) => answerWith(run, about, room), toText: researchText });

function answerWith(run: RunWhole, about: AboutStart, room: Room) {
  const { note: howToRead, ...reading } = fittingReport(run, room);
  // What a gate of the result found comes before how to read on.
  const note = joinNotes([run.note, howToRead]);
  return {
    success: true,
    task_id: run.task_id,
    status: "completed" as const,
    mode: run.mode,
    results: {
      note,
      ...reading,
      pictures: picturesIn(run.pictures, reading.report),
      search_suggestions: run.search_suggestions,
      metadata: resultMetadata(run),
    },
    cost_usd: run.cost_usd,
    cost_incomplete: run.cost_incomplete,
    cost_estimated: run.cost_estimated,
    ...NO_PLAN,
    material: run.material,
    ...about,
  };
}

type FinishedResearch = ReturnType<typeof answerWith>;

type Results = FinishedResearch["results"];

/** What the answers to a start and to a follow-up have in common. */
interface ResearchAnswer {
  success: boolean;
  results?: (Omit<Results, "report"> & { report?: string | undefined; table?: Table | undefined }) | undefined;
  plan?: string | undefined;
  material?: SentMaterial;
}

export function researchText({ results, plan, material, success: _success, ...facts }: ResearchAnswer): string {
  if (results === undefined) return reportText({ plan, material }, facts);
  const { report, table, outline, sources, metadata, pictures, search_suggestions, ...rest } = results;
  return reportText(
    { report, table, outline, sources, pictures, search_suggestions, material },
    withWishNote(metadata),
    { ...facts, ...rest },
  );
}
