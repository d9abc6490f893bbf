/** `export_library`: writes all runs, or those that a list would show, to one archive. For the terminal; the page downloads it. */

import path from "node:path";
import { z } from "zod";
import { AppError } from "../../errors.ts";
import { countOf } from "../../platform/count.ts";
import { isoTime } from "../../platform/clock.ts";
import type { Database } from "../../store/database.ts";
import { libraryInput, runPage } from "../list-research.ts";
import { defineOperation, flagField, outputSchema } from "../operation.ts";
import { pathField, savedFileFields } from "../parts/report-file.ts";
import { DEFAULT_DIRECTORY } from "../save-research-to-markdown.ts";

/** Without words, tag, kind, status or mark: everything, archived runs too. */
const filter = libraryInput.omit({ limit: true, cursor: true }).extend({ archived: flagField("archived").optional() });

export const exportLibrary = defineOperation({
  name: "export_library",
  title: "Export runs",
  description: "Writes runs to one archive. Free, local.",
  input: filter.extend({
    file: pathField("file").optional(),
    output_dir: pathField("output_dir").optional(),
    replace: flagField("replace").default(false),
  }),
  output: outputSchema({
    ...savedFileFields,
    runs: z.number(),
    not_exported: z.array(z.string()).optional().describe("Runs that cannot be read."),
    message: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  positional: undefined,
  run: async (deps, { file, output_dir, replace, ...wanted }, { owner, progress }) => {
    const { archiveOf } = await import("./archive.ts");
    const { outputDirectory, saveMarkdown } = await import("../../reports/files/save-markdown.ts");
    const now = deps.clock.now();
    const target = file === undefined ? undefined : outputDirectory(file);
    const directory = outputDirectory(output_dir ?? deps.settings.reportsDir ?? DEFAULT_DIRECTORY);
    let runs = 0;
    const taskIds = await idsOf(await deps.database(), owner, wanted);
    if (taskIds?.length === 0) throw noneFound();
    const onRun = (): void => {
      runs += 1;
      if (runs % 50 === 0) progress(`${runs} runs`);
    };
    const leftOut: string[] = [];
    const onLeftOut = (taskId: string): void => void leftOut.push(taskId);
    const saved = await saveMarkdown({
      directory: target === undefined ? directory : path.dirname(target),
      named:
        target === undefined
          ? { title: archiveName(now), ending: "zip" }
          : { file: path.basename(target), replaces: replace },
      text: archiveOf(deps, { owner, taskIds, onRun, onLeftOut }),
      now,
    });
    return {
      success: true,
      file_path: saved.path,
      filename: saved.name,
      file_size_kb: Math.round((saved.bytes / 1024) * 100) / 100,
      created_at: isoTime(now),
      runs,
      ...(leftOut.length === 0 ? {} : { not_exported: leftOut }),
      message: [
        `Exported ${countOf(runs, "run")}. What is in progress or waits for a decision is not part of it.`,
        ...(leftOut.length === 0
          ? []
          : [`${countOf(leftOut.length, "run")} cannot be read, and so not exported: ${leftOut.join(", ")}.`]),
      ].join(" "),
    };
  },
  toText: ({ message, file_path: written }) => `${message}\n${written}`,
});

export const archiveName = (now: number): string => `Research ${isoTime(now).slice(0, "2026-11-19".length)}`;

const PAGE = 100;

/** Undefined if no filter is given. */
async function idsOf(db: Database, owner: string, wanted: z.output<typeof filter>): Promise<string[] | undefined> {
  if (Object.values(wanted).every((value) => value === undefined)) return undefined;
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const { runs, next_cursor } = await runPage(db, owner, { ...wanted, limit: PAGE, cursor });
    ids.push(...runs.map(({ run }) => run.taskId));
    cursor = next_cursor;
  } while (cursor !== undefined);
  return ids;
}

const noneFound = (): AppError =>
  new AppError({
    code: "INVALID_INPUT",
    message: "No runs match. Nothing was exported.",
    next: [{ do: "list" }],
  });
