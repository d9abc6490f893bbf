/** Gets a change of a plan from the user: the plan edited in $EDITOR, or a line that says what to change. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { App } from "../../app.ts";
import { findProgram } from "../../platform/find-program.ts";
import { planReplacement } from "../../runs/plan/run-plan.ts";
import { withoutSettings } from "../browser/open-browser.ts";
import { askTerminal } from "../confirm.ts";

/** Undefined when nothing was changed. */
export async function editPlan({ config }: App, plan: string, signal: AbortSignal): Promise<string | undefined> {
  const { environment } = config;
  const chosen = (environment["VISUAL"] ?? environment["EDITOR"] ?? "").trim();
  const [name = "", ...args] = chosen.split(/\s+/);
  const program = isAbsolute(name) ? name : name === "" ? undefined : findProgram(name, environment, process.platform);
  if (program === undefined) {
    const line = (await askTerminal("What should change? ", signal))?.trim();
    return line === "" ? undefined : line;
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
