/** `list_research`: what was asked before, newest first. */

import { z } from "zod";
import { AppError } from "../errors.ts";
import { isoTime } from "../platform/clock.ts";
import { type Run, RUN_KINDS, RUN_STATUSES } from "../runs/run.ts";
import { listRuns, type RunFilter } from "../runs/run-store.ts";
import { factLines } from "./answer-text.ts";
import { defineOperation, outputSchema } from "./operation.ts";

const LIMIT = "limit must be a whole number from 1 to 100.";

export const listResearch = defineOperation({
  name: "list_research",
  title: "List research runs",
  description:
    "Lists stored runs of every kind, newest first, finished or not. Use it to find a task_id, for example after a call was lost; get_research_results then returns the report. Free, instant, local. Returns task_id, kind, question, state and cost of each.",
  input: z.strictObject({
    status: z
      .enum(RUN_STATUSES, { error: `status must be one of ${RUN_STATUSES.join(", ")}.` })
      .optional()
      .describe("Only runs in this state."),
    kind: z
      .enum(RUN_KINDS, { error: `kind must be one of ${RUN_KINDS.join(", ")}.` })
      .optional()
      .describe("Only runs of this kind; agent is start_deep_research."),
    limit: z
      .int({ error: LIMIT })
      .min(1, { error: LIMIT })
      .max(100, { error: LIMIT })
      .default(20)
      .describe("How many at most."),
    cursor: z
      .string({ error: "cursor must be a text." })
      .max(200, { error: "cursor is not one of ours." })
      .optional()
      .describe("next_cursor of the page before."),
  }),
  output: outputSchema({
    runs: z.array(
      z.looseObject({
        task_id: z.string(),
        kind: z.string(),
        query: z.string(),
        status: z.string(),
        progress: z.number(),
        created_at: z.string(),
        completed_at: z.string().optional(),
        cost_usd: z.number().optional(),
      }),
    ),
    next_cursor: z.string().describe("Present when there are more."),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: undefined,
  run: async (deps, { status, kind, limit, cursor }, call) => {
    const before = cursor === undefined ? undefined : readCursor(cursor);
    const runs = await listRuns(await deps.database(), { owner: call.owner, status, kind, limit, before });
    const page = runs.slice(0, limit);
    const last = page.at(-1);
    return {
      success: true,
      runs: page.map(listed),
      next_cursor: runs.length > limit && last !== undefined ? writeCursor(last) : undefined,
    };
  },
  toText: ({ runs, next_cursor }) => {
    if (runs.length === 0) return "No runs are stored.";
    const lines = runs.map((run) => factLines(run));
    if (next_cursor !== undefined) lines.push(`next_cursor: ${next_cursor}`);
    return lines.join("\n\n");
  },
});

function listed(run: Run) {
  return {
    task_id: run.taskId,
    kind: run.kind,
    query: run.query,
    status: run.status,
    progress: run.progress,
    created_at: isoTime(run.createdAt),
    completed_at: run.completedAt === undefined ? undefined : isoTime(run.completedAt),
    cost_usd: run.costUsd,
  };
}

export const writeCursor = (run: Run): string => Buffer.from(`${run.createdAt} ${run.taskId}`).toString("base64url");

export function readCursor(cursor: string): RunFilter["before"] {
  const [createdAt, taskId] = Buffer.from(cursor, "base64url").toString("utf8").split(" ");
  const time = Number(createdAt);
  if (!Number.isSafeInteger(time) || taskId === undefined) {
    throw new AppError({
      code: "INVALID_INPUT",
      message: "cursor is not one of ours.",
      suggestion: "Leave it out to start at the newest run.",
      details: { status: 400, field: "cursor" },
    });
  }
  return { createdAt: time, taskId };
}
