/** Carries out a plan, even while the client saves its own settings, and reports the actual outcome. */

import { AppError } from "../errors.ts";
import { changedMeanwhile, type ReplaceResult, replaceConfigFile, type ReplaceOptions } from "./config-file.ts";
import type { Plan } from "./plan.ts";

export interface WriteResult {
  /** The last plan, which the outcome refers to. */
  plan: Plan;
  /** `meanwhile`: another program made the same change first. `failed`: our entry was not written. */
  end: "written" | "meanwhile" | "failed";
  /** The backup of the file before the first try. */
  backup?: string | undefined;
  error?: AppError;
}

export interface WriteRequest extends Pick<ReplaceOptions, "renameFile"> {
  first: Plan;
  planAgain: () => Promise<Plan>;
  /** False if the user confirmed this exact change. */
  mayRetry: boolean;
  /** Returns why a plan may not be written; called for every plan. */
  objection: (plan: Plan) => AppError | undefined;
}

const MAX_TRIES = 5;

export async function writePlan({
  first,
  planAgain,
  mayRetry,
  objection,
  renameFile,
}: WriteRequest): Promise<WriteResult> {
  let [plan, wrote] = [first, false];
  let backup: string | undefined;
  try {
    for (let tries = 1; ; tries += 1) {
      const replaced = await tryToReplace(plan, { now: new Date(), backup, ...(renameFile && { renameFile }) });
      if (!(replaced instanceof AppError)) {
        wrote = true;
        backup = replaced.backup;
        if (!replaced.overwritten) return { plan, end: "written", backup };
      }
      const next = await planAgain();
      if (next.diff === "") return { plan: wrote ? plan : next, end: wrote ? "written" : "meanwhile", backup };
      const refused = replaced instanceof AppError ? replaced : changedMeanwhile(plan.config.file);
      const error = mayRetry && tries < MAX_TRIES ? objection(next) : refused;
      if (error !== undefined) return { plan, end: "failed", backup, error };
      plan = next;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { plan, end: "failed", backup, error };
  }
}

/** Returns an error that is retryable, and throws others. */
async function tryToReplace(plan: Plan, options: ReplaceOptions): Promise<ReplaceResult | AppError> {
  return replaceConfigFile(plan.config, plan.text, options).catch((error: unknown) => {
    if (error instanceof AppError && error.retryable) return error;
    throw error;
  });
}
