/** The commands about the plan of a research: `plan` shows or changes it, `approve` starts the research. */

import type { Command } from "commander";
import { checkResearchStatus } from "../../operations/check-research-status.ts";
import { getResearchResults, type Results } from "../../operations/get-research-results.ts";
import { resumeResearch } from "../../operations/resume-research.ts";
import type { TerminalView } from "../render/answer-view.ts";
import type { Resumed, Status } from "../render/answers/run-views.ts";
import { RUN_ARGUMENT } from "../task-id.ts";

const resumedView: TerminalView<Resumed> = async (resumed, space) =>
  (await import("../render/answers/run-views.ts")).resumedView(resumed, space);
const statusView: TerminalView<Status> = async (status, space) =>
  (await import("../render/answers/run-views.ts")).statusView(status, space);
const resultsView: TerminalView<Results> = async (results, space) =>
  (await import("../render/answers/results-view.ts")).resultsView(results, space);

const isAtTerminal = (): boolean => process.stdout.isTTY && process.stderr.isTTY;

interface PlanOptions {
  edit?: string;
  yes?: boolean;
  json?: boolean;
}

interface ApproveOptions {
  wait?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function addPlanCommands(program: Command): void {
  program
    .command("plan")
    .argument("<run>", RUN_ARGUMENT)
    .option("--edit <change>", "what to change in the plan")
    .option("--yes", "skip the cost confirmation")
    .option("--json", "print the whole answer as JSON")
    .action(async (taskId: string, { edit, yes = false, json = false }: PlanOptions) => {
      const { runOperation } = await import("../run-operation.ts");
      const common = { yes, json, flags: {} };
      const wait = isAtTerminal() && !json;
      if (edit !== undefined) {
        const input = { task_id: taskId, plan_edit: edit };
        return runOperation(resumeResearch, { ...common, input, wait, view: resumedView });
      }
      const input = { task_id: taskId };
      // Watching a run that waits for approval shows its plan and asks.
      if (wait) return runOperation(checkResearchStatus, { ...common, input, wait, view: statusView });
      return runOperation(getResearchResults, { ...common, input, wait, view: resultsView });
    });
  program
    .command("approve")
    .argument("<run>", RUN_ARGUMENT)
    .option("--wait", "wait for the run, show progress, then print the report (default at a terminal)")
    .option("--no-wait", "return as soon as the research is started (default in a pipe)")
    .option("--yes", "skip the cost confirmation")
    .option("--json", "print the whole answer as JSON")
    .action(async (taskId: string, { wait, yes = false, json = false }: ApproveOptions) => {
      const { runOperation } = await import("../run-operation.ts");
      const input = { task_id: taskId, approve: true };
      const waits = wait ?? (isAtTerminal() && !json);
      await runOperation(resumeResearch, { input, wait: waits, yes, json, flags: {}, view: resumedView });
    });
}
