/** Short commands that tidy up the list: `rename`, `star`, `unstar`, `archive`, `unarchive`. */

import type { Command } from "commander";
import { organizeRun } from "../../operations/organize-run.ts";
import type { TerminalView } from "../render/answer-view.ts";
import type { Organized } from "../render/answers/run-views.ts";
import { RUN_ARGUMENT } from "../task-id.ts";

const organizedView: TerminalView<Organized> = async (organized, space) => {
  const views = await import("../render/answers/run-views.ts");
  return views.organizedView(organized, space);
};

const MARKS = {
  star: { starred: true },
  unstar: { starred: false },
  archive: { archived: true },
  unarchive: { archived: false },
};

export function addOrganizeCommands(program: Command): void {
  const command = (name: string): Command =>
    program.command(name).argument("<run>", RUN_ARGUMENT).option("--json", "print the whole answer as JSON");
  command("rename")
    .argument("<title...>", "the title, with or without quotation marks, at most 200 characters")
    .action(async (run: string, words: string[], options: { json?: boolean }) =>
      organize(run, { title: words.join(" ") }, options),
    );
  for (const [name, marks] of Object.entries(MARKS)) {
    command(name).action(async (run: string, options: { json?: boolean }) => organize(run, marks, options));
  }
}

async function organize(taskId: string, marks: object, { json = false }: { json?: boolean }): Promise<void> {
  const { runOperation } = await import("../run-operation.ts");
  const input = { task_id: taskId, ...marks };
  await runOperation(organizeRun, { input, json, wait: false, yes: false, flags: {}, view: organizedView });
}
