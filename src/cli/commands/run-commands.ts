/** Short commands around runs that are not operations of their own: `watch`, `find`, `delete`, `figures`. */

import type { Command } from "commander";
import { checkResearchStatus } from "../../operations/check-research-status.ts";
import { listResearch } from "../../operations/list-research.ts";
import { listTable } from "../operation-commands.ts";
import { addPlanCommands } from "../plan/plan-commands.ts";
import { addOrganizeCommands } from "./organize-commands.ts";
import { addTableCommand } from "./table-command.ts";
import type { TerminalView } from "../render/answer-view.ts";
import type { Status } from "../render/answers/run-views.ts";
import { RUN_ARGUMENT } from "../task-id.ts";

const json = (command: Command): Command => command.option("--json", "print the whole answer as JSON");
const PLAIN = { wait: false, yes: false, flags: {} };

const statusView: TerminalView<Status> = async (status, space) => {
  const views = await import("../render/answers/run-views.ts");
  return views.statusView(status, space);
};

export function addRunCommands(program: Command): void {
  json(program.command("watch"))
    .argument("<run>", RUN_ARGUMENT)
    .action(async (taskId: string, options: { json?: boolean }) => {
      const { runOperation } = await import("../run-operation.ts");
      const input = { task_id: taskId };
      await runOperation(checkResearchStatus, {
        ...PLAIN,
        input,
        json: options.json === true,
        wait: true,
        view: statusView,
      });
    });
  json(program.command("find"))
    .argument("<words...>", "words to find (all must match)")
    .option("--limit <n>", "maximum number of runs, 1 to 100 (default 20)", Number)
    .action(async (words: string[], options: { limit?: number; json?: boolean }) => {
      const { runOperation } = await import("../run-operation.ts");
      const { limit } = options;
      const input = { text: words.map(asPhrase).join(" "), ...(limit === undefined ? {} : { limit }) };
      await runOperation(listResearch, { ...PLAIN, input, json: options.json === true, view: listTable });
    });
  addTableCommand(program);
  addPlanCommands(program);
  addOrganizeCommands(program);
  json(program.command("delete"))
    .argument("<run>", RUN_ARGUMENT)
    .option("--at-google", "delete Google's copy, too")
    .option("--yes", "skip the confirmation")
    .action(async (taskId: string, options: { atGoogle?: boolean; yes?: boolean; json?: boolean }) => {
      const { deleteFromTerminal } = await import("./delete-run.ts");
      const { atGoogle = false, yes = false } = options;
      await deleteFromTerminal({ taskId, atGoogle, yes, json: options.json === true });
    });
  json(program.command("figures")).action(async (options: { json?: boolean }) => {
    const { printFigures } = await import("./figures.ts");
    await printFigures({ json: options.json === true });
  });
}

/** Restores the user's quotation marks, which the shell has removed. */
const asPhrase = (word: string): string => (/\s/.test(word.trim()) && !word.includes('"') ? `"${word}"` : word);
