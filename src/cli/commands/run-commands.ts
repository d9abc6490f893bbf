/** Short commands around runs that are not operations of their own: `watch`, `find`, `delete`, `figures`. */

import type { Command } from "commander";
import { checkResearchStatus } from "../../operations/check-research-status.ts";
import { listResearch } from "../../operations/list-research.ts";
import type { TerminalView } from "../render/answer-view.ts";
import type { RunList } from "../render/list-view.ts";

const json = (command: Command): Command => command.option("--json", "print the whole answer as JSON");
const PLAIN = { wait: false, yes: false, flags: {} };

export function addRunCommands(program: Command): void {
  json(program.command("watch"))
    .summary("Watch a run until it ends")
    .description("Show a run live until it ends, then print its report. Ctrl-C leaves; the run goes on.")
    .argument("<task-id>", "the task_id, or at least the first 6 characters of it")
    .action(async (taskId: string, options: { json?: boolean }) => {
      const { runOperation } = await import("../run-operation.ts");
      const input = { task_id: taskId };
      await runOperation(checkResearchStatus, { ...PLAIN, input, json: options.json === true, wait: true });
    });
  json(program.command("find"))
    .summary("Find runs by words")
    .description("Find runs by words of their questions and reports, best first. Quotation marks keep words together.")
    .argument("<words...>", "what to look for; all of it must be there")
    .option("--limit <n>", "how many at most", Number)
    .action(async (words: string[], options: { limit?: number; json?: boolean }) => {
      const { runOperation } = await import("../run-operation.ts");
      const { limit } = options;
      const input = { text: words.map(asPhrase).join(" "), ...(limit === undefined ? {} : { limit }) };
      await runOperation(listResearch, { ...PLAIN, input, json: options.json === true, view: listTable });
    });
  json(program.command("delete"))
    .summary("Delete a run for good")
    .description("Delete a finished run with its report, sources and timeline. Saved files stay. Asks first.")
    .argument("<task-id>", "the task_id, or at least the first 6 characters of it")
    .option("--at-google", "Google's copy too")
    .option("--yes", "delete without a question")
    .action(async (taskId: string, options: { atGoogle?: boolean; yes?: boolean; json?: boolean }) => {
      const { deleteFromTerminal } = await import("./delete-run.ts");
      const { atGoogle = false, yes = false } = options;
      await deleteFromTerminal({ taskId, atGoogle, yes, json: options.json === true });
    });
  json(program.command("figures"))
    .summary("Cost and time by month")
    .description("Show what finished runs cost and took by month, and how far the estimates were off.")
    .action(async (options: { json?: boolean }) => {
      const { printFigures } = await import("./figures.ts");
      await printFigures({ json: options.json === true });
    });
}

/** Loaded when a list is shown: every command loads this file. */
export const listTable: TerminalView<RunList> = async (list, space) => {
  const { listView } = await import("../render/list-view.ts");
  return listView(list, space);
};

/** Restores the user's quotation marks, which the shell has removed. */
const asPhrase = (word: string): string => (/\s/.test(word.trim()) && !word.includes('"') ? `"${word}"` : word);
