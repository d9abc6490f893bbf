/** Asks once whether Google's redirect links may be resolved, which Google's terms leave to the operator. */

import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";
import { isSet, setOnce } from "../../setup/own-setting.ts";
import { askAboutSourceLinks } from "./terminal.ts";

const SETTING = "RESOLVE_SOURCE_LINKS";

/** Returns the decision as remarks; undefined when the user aborted. */
export async function decideSourceLinks({ configDir, environment }: Config): Promise<string[] | undefined> {
  const file = join(configDir, "config.json");
  try {
    if ((environment[SETTING] ?? "").trim() !== "" || (await isSet({ file, name: SETTING }))) return [];
    const answer = await askAboutSourceLinks();
    if (answer === "aborted") return undefined;
    if (answer === "later") return [];
    const isOurs = await setOnce({ file, name: SETTING, value: answer === "resolve" });
    if (!isOurs) return [`${SETTING} has just been set by another program; it was not changed.`];
    const decision = answer === "resolve" ? "are resolved" : "are kept as they are";
    return [`Google's redirect links ${decision} (${SETTING} in ${file}).`];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [`${SETTING} could not be saved: ${error.message}`];
  }
}
