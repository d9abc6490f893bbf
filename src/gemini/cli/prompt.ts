/** Makes a prompt safe to hand to the Gemini CLI, which has a language of its own, and refuses what it would garble. */

import { AppError } from "../../errors.ts";
import type { AskRequest } from "../search-backend.ts";

/** The CLI cuts longer input without an error. */
const LONGEST_PROMPT_BYTES = 8 * 1024 * 1024;

/** Nothing that could be a flag, a path upwards or a word of a shell. */
const MODEL_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]|\/(?=[A-Za-z0-9])){0,127}$/;

/**
 * G9: `@name` would be replaced by the contents of a file and a leading `/` run a command,
 * also in headless mode. An escaped `\@` reaches the model as it stands.
 */
export function escapePrompt(prompt: string): string {
  const escaped = prompt.replaceAll(/(?<!\\)@/g, "\\@");
  return /^\s*\//.test(escaped) ? `Task:\n${escaped}` : escaped;
}

export function refuseUnusable({ prompt, model }: AskRequest, depth: number): void {
  if (depth > 0) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message: "This server was started by a Gemini CLI that it had started itself; it does not start another.",
      suggestion: "Remove this server from the settings of that Gemini CLI.",
      reason: "config",
    });
  }
  if (model !== undefined && !MODEL_NAME.test(model)) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message: "The configured model name is not one that can be passed to the Gemini CLI.",
      suggestion: "Check GEMINI_MODEL and GEMINI_CORRECTION_MODEL; a name looks like gemini-3.8-flash.",
      reason: "config",
    });
  }
  if (Buffer.byteLength(escapePrompt(prompt)) > LONGEST_PROMPT_BYTES) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message: "The question is longer than the 8 MB that the Gemini CLI reads.",
      suggestion: "Ask a shorter question.",
      reason: "input",
    });
  }
}
