/** Carries a plan out, also while the client saves its own settings, and says what really came of it. */

import { AppError } from "../errors.ts";
import { changedMeanwhile, type Replaced, replaceConfigFile, type Replacing } from "./config-file.ts";
import type { Plan } from "./plan.ts";

export interface Written {
  /** The last one, which is the one that counts. */
  plan: Plan;
  /** `meanwhile`: another program has done the same before us. `failed`: nothing of ours stands there. */
  end: "written" | "meanwhile" | "failed";
  /** The copy of the file as it was before the first try. */
  backup?: string | undefined;
  error?: AppError;
}

export interface Writing extends Pick<Replacing, "renameFile"> {
  first: Plan;
  planAgain: () => Promise<Plan>;
  /** False where somebody has agreed to these very lines. */
  again: boolean;
  /** Asked anew of every plan: why it may not be written. */
  objection: (plan: Plan) => AppError | undefined;
}

const TRIES = 5;

export async function writePlan({ first, planAgain, again, objection, renameFile }: Writing): Promise<Written> {
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
      const error = again && tries < TRIES ? objection(next) : refused;
      if (error !== undefined) return { plan, end: "failed", backup, error };
      plan = next;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { plan, end: "failed", backup, error };
  }
}

/** An error that may pass is given back. */
async function tryToReplace(plan: Plan, replacing: Replacing): Promise<Replaced | AppError> {
  return replaceConfigFile(plan.config, plan.text, replacing).catch((error: unknown) => {
    if (error instanceof AppError && error.retryable) return error;
    throw error;
  });
}
