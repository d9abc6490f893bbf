/** Escapes prompts for the Gemini CLI, which interprets `@` and `/`, and rejects requests that it could not handle. */

import { AppError } from "../../errors.ts";
import type { AskRequest } from "../search-backend.ts";

/** The CLI silently truncates longer input. */
const MAX_PROMPT_BYTES = 8 * 1024 * 1024;

/** Excludes flags, parent paths and shell syntax. */
const MODEL_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]|\/(?=[A-Za-z0-9])){0,127}$/;

/**
 * The CLI would replace `@name` by a file's contents and run a leading `/` as a command, also in headless mode (G9).
 * An escaped `\@` reaches the model unchanged.
 */
export function escapePrompt(prompt: string): string {
  const escaped = prompt.replaceAll(/(?<!\\)@/g, "\\@");
  return /^\s*\//.test(escaped) ? `Task:\n${escaped}` : escaped;
}

export function assertUsable({ prompt, model }: AskRequest, depth: number): void {
  if (depth > 0) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message:
        "This server was started by a Gemini CLI that one of our servers had started; it does not start another CLI.",
      suggestion: "Remove this server from the settings of that Gemini CLI.",
      reason: "config",
    });
  }
  if (model !== undefined && !MODEL_NAME.test(model)) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message: "The configured model name is not valid for the Gemini CLI.",
      suggestion: "Check GEMINI_MODEL and GEMINI_CORRECTION_MODEL; a name looks like gemini-3.8-flash.",
      reason: "config",
    });
  }
  if (Buffer.byteLength(escapePrompt(prompt)) > MAX_PROMPT_BYTES) {
    throw new AppError({
      code: "EXECUTION_ERROR",
      message: "The question is longer than the 8 MB that the Gemini CLI reads.",
      suggestion: "Ask a shorter question.",
      reason: "input",
    });
  }
}
