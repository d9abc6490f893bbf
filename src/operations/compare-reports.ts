/** `compare_reports`: what a report says otherwise than an earlier one of the same question. */

import { z } from "zod";
import type { ReportChanges } from "../claims/compare-reports.ts";
import { AppError } from "../errors.ts";
import { cancelled } from "../gemini/failures.ts";
import { isoTime } from "../platform/clock.ts";
import { countOf } from "../platform/count.ts";
import { addedSources } from "../reports/report.ts";
import { runsBeginningWith } from "../runs/run-store.ts";
import { list } from "./parts/answer-text.ts";
import { type FinishedReport, finishedReport } from "./parts/after-failure.ts";
import {
  type Call,
  defineOperation,
  type OperationDeps,
  type OutputOf,
  outputSchema,
  taskIdField,
} from "./operation.ts";

/** Of each list, in an answer for a model. */
const MAX_LISTED = 20;

const sourceList = z.array(z.looseObject({ title: z.string(), url: z.string() }));

export const compareReports = defineOperation({
  name: "compare_reports",
  title: "Compare two reports",
  description:
    "Compares a finished run with an earlier one of the same question, without a model: figures, dates, names and directions that changed, with both sentences; findings and sources that are new or gone. Free, local.",
  input: z.strictObject({
    task_id: taskIdField,
    earlier: taskIdField
      .optional()
      .describe("The run to compare with. Default: the newest earlier one with the same question."),
  }),
  output: outputSchema({
    earlier: z.looseObject({ task_id: z.string(), query: z.string(), created_at: z.string() }),
    message: z.string(),
    changed: z.array(z.looseObject({ now: z.string(), before: z.string(), said: z.string().optional() })),
    added: z.array(z.string()).describe("Findings of this report only."),
    gone: z.array(z.string()).describe("Findings of the earlier report only."),
    new_sources: sourceList,
    gone_sources: sourceList,
    not_listed: z.number().describe("Findings and sources beyond the first of each list."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  webText: ["changed", "added", "gone"],
  run: async (deps, input, call) => {
    const db = await deps.database();
    const now = await finishedReport(db, call.owner, input.task_id);
    const before = await finishedReport(db, call.owner, await earlierRun(deps, call, { ...input, now }));
    const { compared, ...changes } = await changesBetween(deps, call, { before, now });
    const { result, run } = before;
    const sources = {
      new_sources: addedSources(now.result.sources, result.sources).map(asListed),
      gone_sources: addedSources(result.sources, now.result.sources).map(asListed),
    };
    const found = { ...changes, ...sources };
    const most = call.wholeReports === true ? Infinity : MAX_LISTED;
    const hidden = Object.values(found).reduce((sum, { length }) => sum + Math.max(0, length - most), 0);
    return {
      success: true,
      task_id: now.run.taskId,
      earlier: { task_id: run.taskId, query: run.query, created_at: isoTime(run.createdAt) },
      message: messageFor(found, { sentences: compared, sources: now.result.sources.length }),
      changed: changes.changed.slice(0, most),
      added: changes.added.slice(0, most),
      gone: changes.gone.slice(0, most),
      new_sources: sources.new_sources.slice(0, most),
      gone_sources: sources.gone_sources.slice(0, most),
      ...(hidden === 0 ? {} : { not_listed: hidden }),
    };
  },
  toText: ({ message, earlier, changed, added, gone, new_sources: more, gone_sources: fewer, not_listed: hidden }) =>
    [
      message,
      `Compared with ${earlier.task_id} of ${earlier.created_at}.`,
      ...list(
        "Changed",
        changed.map(({ now, before }) => `- ${now}\n  before: ${before}`),
      ),
      ...list("New", added.map(bullet)),
      ...list("No longer said", gone.map(bullet)),
      ...list("New sources", more.map(sourceLine)),
      ...list("Sources that are gone", fewer.map(sourceLine)),
      ...(hidden === undefined ? [] : [`And ${hidden} more.`]),
    ].join("\n\n"),
});

export type ReportComparison = OutputOf<typeof compareReports>;

const bullet = (text: string): string => `- ${text}`;
const sourceLine = ({ title, url }: { title: string; url: string }): string => `- ${title}: ${url}`;

const asListed = ({
  title,
  url,
  resolved_url: resolved,
}: {
  title: string;
  url: string;
  resolved_url?: string | undefined;
}) => ({
  title,
  url: resolved ?? url,
});

type Counted = ReportChanges & { new_sources: readonly unknown[]; gone_sources: readonly unknown[] };

function messageFor(
  { changed, added, gone, new_sources: more, gone_sources: fewer }: Counted,
  compared: { sentences: number; sources: number },
): string {
  if ([changed, added, gone, more, fewer].every(({ length }) => length === 0)) {
    return `No change found: ${countOf(compared.sentences, "sentence")} and ${countOf(compared.sources, "source")} compared.`;
  }
  return `${countOf(changed.length, "finding")} changed, ${added.length} new, ${gone.length} gone; ${countOf(more.length, "new source")}, ${fewer.length} gone.`;
}

interface Pair {
  before: FinishedReport;
  now: FinishedReport;
}

async function changesBetween(deps: OperationDeps, call: Call, { before, now }: Pair) {
  const { claimsOfRun } = await import("../verification/claims-of-run.ts");
  const { compareReports: compare } = await import("../claims/compare-reports.ts");
  const read = async ({ run, result }: FinishedReport) => {
    const db = await deps.database();
    return (await claimsOfRun({ db, log: deps.log }, { taskId: run.taskId, result })).claims;
  };
  const signal = AbortSignal.any([call.signal, deps.leaving]);
  const pair = { before: await read(before), now: await read(now) };
  const changes: ReportChanges = await compare(pair, signal).catch((error: unknown) => {
    throw signal.aborted ? cancelled() : error;
  });
  return { ...changes, compared: pair.now.length };
}

async function earlierRun(
  deps: OperationDeps,
  { owner }: Call,
  { earlier, now: { run } }: { earlier?: string | undefined; now: FinishedReport },
): Promise<string> {
  const db = await deps.database();
  if (earlier !== undefined) {
    const [found, another] = await runsBeginningWith(db, owner, earlier);
    const isOther = found !== undefined && found.taskId !== run.taskId;
    if (isOther && another === undefined) return found.taskId;
    throw new AppError({
      code: found === undefined ? "TASK_NOT_FOUND" : "INVALID_TASK_ID",
      message:
        found === undefined
          ? "There is no run with this id."
          : another === undefined
            ? "A report cannot be compared with itself."
            : `More than one run begins with ${earlier}.`,
      next: [{ do: "list" }],
      details: { status: 400, field: "earlier" },
    });
  }
  const { findSameRun } = await import("./question/asked-before.ts");
  // Rather of the same depth: a quick answer says other things than a long report.
  for (const kind of [run.kind, undefined]) {
    const asked = { owner, query: run.query, until: run.createdAt, kind };
    const same = await findSameRun(deps, asked, ({ status }) => status === "completed");
    if (same !== undefined) return same.taskId;
  }
  throw new AppError({
    code: "INVALID_INPUT",
    message: "There is nothing to compare with yet: no earlier report has the same question.",
    suggestion: "Name another run to compare it with, or ask the question again later.",
    next: [{ do: "list" }],
    details: { field: "earlier" },
  });
}
