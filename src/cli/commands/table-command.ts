/** `table`: makes a table of a finished report, or shows one that was made before, as text, CSV or JSON. */

import type { Command } from "commander";
import { askFollowup } from "../../operations/followup/ask-followup.ts";
import type { Call, OperationDeps } from "../../operations/operation.ts";
import type { Source } from "../../reports/report.ts";
import type { Table } from "../../reports/table/table.ts";
import type { TerminalView } from "../render/answer-view.ts";
import type { FollowedUp } from "../render/answers/run-views.ts";
import { RUN_ARGUMENT } from "../task-id.ts";

const ROWS = "One row per item that the report compares.";

interface TableOptions {
  rows?: string;
  csv?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function addTableCommand(program: Command): void {
  program
    .command("table")
    .argument("<run>", RUN_ARGUMENT)
    .argument("<columns...>", "names of the columns, up to 20; quote names with spaces")
    .option("--rows <text>", "what a row is, such as “one row per manufacturer”", ROWS)
    .option("--csv", "print it as CSV")
    .option("--yes", "skip the cost confirmation")
    .option("--json", "print the whole answer as JSON")
    .action(async (taskId: string, columns: string[], { rows = ROWS, csv, yes, json }: TableOptions) => {
      const { runOperation } = await import("../run-operation.ts");
      await runOperation(askFollowup, {
        input: { task_id: taskId, question: rows, columns, wait: json === true },
        json: json === true,
        wait: true,
        yes: yes === true,
        flags: {},
        confirm: confirmPrice,
        view: csv === true ? ({ results }) => csvOf({ ...results, query: rows }) : followupView,
        ...(csv === true ? { endView: csvOf } : {}),
      });
    });
}

const followupView: TerminalView<FollowedUp> = async (answer, space) =>
  (await import("../render/answers/run-views.ts")).followupView(answer, space);

/** States the price of a table that has to be made, and asks where it is above the user's limit. */
async function confirmPrice(
  deps: OperationDeps,
  { input, call, canAsk }: { input: Record<string, unknown>; call: Call; canAsk: boolean },
): Promise<Call["agreed"]> {
  const { confirmCost } = await import("../confirm.ts");
  const { parseInput } = await import("../../operations/perform.ts");
  const { priceToMake } = await import("../../operations/followup/prepare.ts");
  const { task_id: taskId, question, columns = [] } = parseInput(askFollowup.input, input);
  const price = await priceToMake(deps, { owner: call.owner, taskId, question, columns });
  const { printFailure } = await import("../output.ts");
  if (price !== undefined) await printFailure(price);
  return confirmCost(deps, { operation: askFollowup, input, call, canAsk });
}

interface Shown {
  table?: Table | undefined;
  report?: string | undefined;
  sources?: readonly Source[] | undefined;
  query: string;
}

/** An answer that is no table is printed as it is. */
async function csvOf({ table, report = "", sources = [], query }: Shown): Promise<string> {
  if (table === undefined) return report;
  const { tableCsv } = await import("../../reports/table/table-files.ts");
  return tableCsv({ query, table, sources }).trimEnd();
}
