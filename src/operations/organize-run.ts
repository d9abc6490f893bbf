/**
 * `organize_run`: renames, tags, annotates, stars or archives a run. For people at the page and the terminal only: it is not in the
 * catalogue, because a tool for it would cost every model tokens, and tidying up is not a model's task.
 */

import { z } from "zod";
import {
  cleanTag,
  cleanTitle,
  MAX_NOTE_CHARACTERS,
  MAX_TITLE_CHARACTERS,
  TAG,
} from "../runs/library/organize-store.ts";
import { cleanText } from "../platform/clean-text.ts";
import type { Run } from "../runs/run.ts";
import { defineOperation, flagField, outputSchema, taskIdField } from "./operation.ts";

export const tagField = (name: string) =>
  z
    .string({ error: `{${name}} must be a string.` })
    .transform(cleanTag)
    .pipe(z.string().regex(TAG, { error: `{${name}}: a tag is one word of at most 40 characters.` }));

const tagsField = (name: string) =>
  z
    .array(tagField(name), { error: `{${name}} must be a list of words.` })
    .max(50, { error: `{${name}} has too many words.` })
    .optional();

const NOTE_LIMIT = MAX_NOTE_CHARACTERS.toLocaleString("en-US");

export const organizeRun = defineOperation({
  name: "organize_run",
  title: "Rename, tag, annotate, star or archive a run",
  description: "Renames, tags, annotates, stars or archives a run. Free, instant, local.",
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
    note: z
      .string({ error: "{note} must be a string." })
      .transform((typed) => cleanText(typed).trim())
      .pipe(z.string().max(MAX_NOTE_CHARACTERS, { error: `{note} must have at most ${NOTE_LIMIT} characters.` }))
      .optional()
      .describe("Empty to remove it."),
    tag: tagsField("tag"),
    untag: tagsField("untag"),
    starred: flagField("starred").optional(),
    archived: flagField("archived").optional(),
  }),
  output: outputSchema({
    query: z.string(),
    title: z.string(),
    tags: z.array(z.string()),
    note_of_user: z.string(),
    starred: z.boolean(),
    archived: z.boolean(),
    message: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  positional: "task_id",
  run: async (deps, { task_id: taskId, ...marks }, { owner }) => {
    const { organizeRun: organize } = await import("../runs/library/organize-store.ts");
    const { title, tag, untag, note, starred, archived } = marks;
    const given = { title, tag, untag, note, starred, archived };
    const run = await organize(await deps.database(), { owner, taskId, ...given, now: deps.clock.now() });
    return {
      success: true,
      task_id: run.taskId,
      status: run.status,
      query: run.query,
      title: run.title,
      tags: run.tags.length === 0 ? undefined : [...run.tags],
      note_of_user: run.note,
      starred: run.starred,
      archived: run.archived,
      message: messageFor(run, marks),
    };
  },
  toText: ({ message }) => message,
});

type Marks = Partial<Record<"title" | "tag" | "untag" | "note" | "starred" | "archived", unknown>>;

function messageFor(run: Run, { title, tag, untag, note, starred, archived }: Marks) {
  return [
    ...(title === undefined
      ? []
      : [run.title === undefined ? "The question is shown again." : `Renamed to “${run.title}”.`]),
    ...(tag === undefined && untag === undefined
      ? []
      : [run.tags.length === 0 ? "It has no tags." : `Tags: ${run.tags.join(", ")}.`]),
    ...(note === undefined ? [] : [run.note === undefined ? "It has no note." : "Note saved."]),
    ...(starred === undefined ? [] : [run.starred ? "Starred." : "Star removed."]),
    ...(archived === undefined ? [] : [run.archived ? "Archived." : "Returned to the list."]),
  ].join(" ");
}
