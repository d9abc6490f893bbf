/** The answer of a call whose research has ended with a report. */

import { costFields } from "../../costs/actual.ts";
import type { StoredRun } from "../../runs/history/read.ts";
import { resultMetadata } from "../get-research-results.ts";
import { picturesIn, suggestionLinks, withPictureLinks } from "../parts/answer-extras.ts";
import { materialIn } from "../parts/material.ts";
import { NO_PLAN } from "../parts/plan.ts";
import { fittingReport } from "../parts/report-reading.ts";
import { wishesIn, wishesMetadata } from "../question/wishes.ts";

export interface AboutStart {
  joined?: boolean;
  notice?: string;
}

export async function finishedResearch(
  { run, result }: StoredRun,
  { now, inlineCharacters }: { now: number; inlineCharacters: number },
  about: AboutStart,
) {
  const { sources = [] } = result ?? {};
  const reading =
    result === undefined
      ? { report: "", sources }
      : fittingReport(withPictureLinks(run.taskId, result), inlineCharacters);
  return {
    success: true,
    task_id: run.taskId,
    status: "completed" as const,
    mode: run.mode ?? "sync",
    results: {
      ...reading,
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
