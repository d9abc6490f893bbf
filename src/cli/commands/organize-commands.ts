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

const MARKS = [
  { name: "star", marks: { starred: true }, summary: "Star a run", about: "Star a run; list --starred shows it." },
  { name: "unstar", marks: { starred: false }, summary: "Remove a star", about: "Remove a run's star." },
  {
    name: "archive",
    marks: { archived: true },
    summary: "Hide a finished run from the list",
    about:
      "Hide a finished run from the list, here and on the dashboard. It still appears in list --archived and in find.",
  },
  {
    name: "unarchive",
    marks: { archived: false },
    summary: "Return a run to the list",
    about: "Return an archived run to the list.",
  },
];

export function addOrganizeCommands(program: Command): void {
  const command = (name: string, summary: string, about: string): Command =>
    program
      .command(name)
      .summary(summary)
      .description(about)
      .argument("<run>", RUN_ARGUMENT)
      .option("--json", "print the whole answer as JSON");
  command(
    "rename",
    "Give a run a title",
    'Give a run a title, which the list shows instead of its question. "" shows the question again.',
  )
    .argument("<title...>", "the title, with or without quotation marks, at most 200 characters")
    .action(async (run: string, words: string[], options: { json?: boolean }) =>
      organize(run, { title: words.join(" ") }, options),
    );
  for (const { name, marks, summary, about } of MARKS) {
    command(name, summary, about).action(async (run: string, options: { json?: boolean }) =>
      organize(run, marks, options),
    );
  }
}

async function organize(taskId: string, marks: object, { json = false }: { json?: boolean }): Promise<void> {
  const { runOperation } = await import("../run-operation.ts");
  const input = { task_id: taskId, ...marks };
  await runOperation(organizeRun, { input, json, wait: false, yes: false, flags: {}, view: organizedView });
}
