/** Asks at the terminal what to do with a plan: approve it, change it in an editor or by a sentence, or decide later. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { App } from "../app.ts";
import type { Results } from "../operations/get-research-results.ts";
import type { Call } from "../operations/operation.ts";
import { perform, refused } from "../operations/perform.ts";
import { isRefusal } from "../operations/question/vague-question.ts";
import { resumeResearch } from "../operations/resume-research.ts";
import { findProgram } from "../platform/find-program.ts";
import { planReplacement } from "../runs/plan/plan-store.ts";
import { answerSpace } from "./answer-command.ts";
import { withoutSettings } from "./browser/open-browser.ts";
import { followRun } from "./commands/follow-run.ts";
import { askTerminal, confirmCost } from "./confirm.ts";
import { EXIT_CODES, type LogLines, print, printFailure } from "./output.ts";
import { printFailedOutcome } from "./print-error.ts";
import { shell, shortId } from "./render/answer-view.ts";
import { resultsView } from "./render/answers/results-view.ts";
import { formatDollars } from "../costs/dollars.ts";

/** Whether the run waits for a decision that this terminal can ask for. */
export const asksForDecision = ({ plan, status }: Results): boolean =>
  plan !== undefined &&
  status === "awaiting_approval" &&
  process.stdin.isTTY &&
  process.stdout.isTTY &&
  process.stderr.isTTY;

interface Deciding {
  answer: Results;
  call: Call;
  log: LogLines;
}

type Decision = { approve: true } | { plan_edit: string };

/** Shows the plan, and each changed one, until it is approved or left. Returns the exit code. */
export async function decidePlan(app: App, { answer, call, log }: Deciding): Promise<number> {
  let shown = answer;
  for (;;) {
    await print(await resultsView(shown, answerSpace(app)));
    if (!asksForDecision(shown)) return EXIT_CODES.ok;
    const decision = await askDecision(app, shown, call);
    if (decision === undefined) {
      await printFailure(await notStarted(app, shown.task_id, call));
      return EXIT_CODES.ok;
    }
    const next = await carryOut(app, { shown, decision, call, log });
    if ("exitCode" in next) return next.exitCode;
    shown = next.answer;
  }
}

async function askDecision(app: App, shown: Results, call: Call): Promise<Decision | undefined> {
  const { estimated_cost: cost } = shown;
  const price =
    cost === undefined ? "" : ` for about ${formatDollars(cost.likely_usd)} (up to ${formatDollars(cost.max_usd)})`;
  for (;;) {
    const answer = await askTerminal(`\nStart this research${price}? [approve / edit / later] `, call.signal);
    const word = (answer ?? "").trim().toLowerCase();
    if (APPROVING.has(word)) return { approve: true };
    if (LEAVING.has(word) || isRefusal(word)) return undefined;
    if (!EDITING.has(word)) {
      await printFailure("Please answer approve, edit or later.");
      continue;
    }
    const change = await editPlan(app, shown.plan ?? "", call.signal);
    if (change !== undefined) return { plan_edit: change };
    await printFailure("The plan was not changed.");
  }
}

const APPROVING: ReadonlySet<string> = new Set(["a", "approve", "y", "yes"]);
const EDITING: ReadonlySet<string> = new Set(["e", "edit"]);
/** Without a word: the input was closed or interrupted, or Enter. */
const LEAVING: ReadonlySet<string> = new Set(["l", "later", ""]);

async function notStarted({ deps }: App, taskId: string, { owner }: Call): Promise<string> {
  const { deadlineAt } = await deps.findRun(owner, taskId);
  const until =
    deadlineAt === undefined
      ? ""
      : ` The plan waits until ${new Date(deadlineAt).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}.`;
  return `Not started.${until} To start it:\n${shell(`approve ${shortId(taskId)}`)}`;
}

type Next = { answer: Results } | { exitCode: number };

interface Decided {
  shown: Results;
  decision: Decision;
  call: Call;
  log: LogLines;
}

async function carryOut(app: App, { shown, decision, call, log }: Decided): Promise<Next> {
  const input = { task_id: shown.task_id, plan_turn: shown.plan_turn, ...decision };
  const failed = async (outcome: Parameters<typeof printFailedOutcome>[0]): Promise<Next> => ({
    exitCode: await printFailedOutcome(outcome, { json: false }),
  });
  try {
    const asked = { operation: resumeResearch, input, call, canAsk: true };
    // The question above named the price of the research; a change has a price of its own.
    const agreed = "approve" in decision ? await atShownPrice(app, asked, shown) : await confirmCost(app.deps, asked);
    const begun = await perform(resumeResearch, app.deps, { input, call: { ...call, agreed } });
    if (begun.failed) return await failed(begun);
  } catch (error) {
    return failed(refused(error, app.deps));
  }
  const { isOver, outcome } = await followRun(app, { taskId: input.task_id, call, log });
  if (outcome.failed) return failed(outcome);
  return isOver ? { answer: outcome.structured } : { exitCode: EXIT_CODES.ok };
}

/** The yes to a plan, at the price that was shown with it. */
async function atShownPrice(
  { deps }: App,
  asked: Parameters<typeof confirmCost>[1],
  { estimated_cost: cost }: Results,
): Promise<Call["agreed"]> {
  const subject = await confirmCost(deps, { ...asked, yes: true });
  return subject && { ...subject, max_usd: cost?.max_usd };
}

/** Undefined when nothing was changed. */
async function editPlan({ config }: App, plan: string, signal: AbortSignal): Promise<string | undefined> {
  const { environment } = config;
  const chosen = (environment["VISUAL"] ?? environment["EDITOR"] ?? "").trim();
  const [name = "", ...args] = chosen.split(/\s+/);
  const program = isAbsolute(name) ? name : name === "" ? undefined : findProgram(name, environment, process.platform);
  if (program === undefined) {
    const line = (await askTerminal("What should change? (Enter: nothing) ", signal))?.trim();
    return line === "" || isRefusal(line) ? undefined : line;
  }
  const edited = await editFile({ program, args, environment: withoutSettings(environment) }, plan);
  return edited === undefined || edited === plan.trim() ? undefined : planReplacement(edited);
}

interface Editor {
  program: string;
  args: string[];
  environment: Record<string, string | undefined>;
}

/** Undefined when the editor failed or left an empty file. */
async function editFile({ program, args, environment }: Editor, plan: string): Promise<string | undefined> {
  const directory = mkdtempSync(join(tmpdir(), "gemini-search-plan-"));
  const file = join(directory, "plan.md");
  try {
    writeFileSync(file, `${plan.trim()}\n`, { mode: 0o600 });
    const child = spawn(program, [...args, file], { env: environment, stdio: "inherit" });
    const [code]: unknown[] = await once(child, "exit");
    const text = readFileSync(file, "utf8").trim();
    return code === 0 && text !== "" ? text : undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
