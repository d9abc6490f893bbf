/**
 * `organize_run`: renames, stars or archives a run. For people at the dashboard and the terminal only: it is not in the
 * catalogue, because a tool for it would cost every model tokens, and tidying up is not a model's task.
 */

import { z } from "zod";
import { cleanTitle, MAX_TITLE_CHARACTERS } from "../runs/library/organize-store.ts";
import type { Run } from "../runs/run.ts";
import { defineOperation, flagField, outputSchema, taskIdField } from "./operation.ts";

export const organizeRun = defineOperation({
  name: "organize_run",
  title: "Rename, star or archive a run",
  description: "Renames, stars or archives a run. Free, instant, local.",
  input: z.strictObject({
    task_id: taskIdField,
    title: z
      .string({ error: "{title} must be a string." })
      .transform(cleanTitle)
      .pipe(
        z
          .string()
          .max(MAX_TITLE_CHARACTERS, { error: `{title} must have at most ${MAX_TITLE_CHARACTERS} characters.` }),
      )
      .optional()
      .describe("Empty to show the question again."),
    starred: flagField("starred").optional(),
    archived: flagField("archived").optional(),
  }),
  output: outputSchema({
    query: z.string(),
    title: z.string(),
    starred: z.boolean(),
    archived: z.boolean(),
    message: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  run: async (deps, { task_id: taskId, ...marks }, { owner }) => {
    const { organizeRun: organize } = await import("../runs/library/organize-store.ts");
    const { title, starred, archived } = marks;
    const now = deps.clock.now();
    const run = await organize(await deps.database(), { owner, taskId, title, starred, archived, now });
    return {
      success: true,
      task_id: run.taskId,
      status: run.status,
      query: run.query,
      title: run.title,
      starred: run.starred,
      archived: run.archived,
      message: messageFor(run, marks),
    };
  },
  toText: ({ message }) => message,
});

function messageFor(
  run: Run,
  { title, starred, archived }: { title?: unknown; starred?: unknown; archived?: unknown },
) {
  return [
    ...(title === undefined
      ? []
      : [run.title === undefined ? "The question is shown again." : `Renamed to “${run.title}”.`]),
    ...(starred === undefined ? [] : [run.starred ? "Starred." : "Star removed."]),
    ...(archived === undefined ? [] : [run.archived ? "Archived." : "Returned to the list."]),
  ].join(" ");
}
