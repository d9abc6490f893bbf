/** Reports which tools assistants are offered. */

import type { Config } from "../config/config.ts";
import { toolSet } from "../config/tool-sets.ts";
import { type CheckResult, countOf, ok } from "./check.ts";

export function checkTools({ settings }: Config): CheckResult {
  const { name, listed } = toolSet(settings.GEMINI_SEARCH_TOOLS);
  return ok("tools", `Assistants are offered ${countOf(listed.length, "tool")} (GEMINI_SEARCH_TOOLS=${name}).`);
}
