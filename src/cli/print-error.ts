/** Prints the error that ended a command: text on stderr, with --json also the structured form on stdout. */

import { AppError } from "../errors.ts";
import type { Failure } from "../operations/perform.ts";
import { failureCode } from "./exit-codes.ts";
import { print, printFailure } from "./output.ts";

/** Returns the exit code. */
export async function printFailedOutcome({ structured, text }: Failure, json: boolean): Promise<number> {
  await printFailure(text);
  if (json) await print(JSON.stringify(structured, null, 2));
  return failureCode(structured);
}

/** For commands that are no operation: without the details in the text. Rethrows a bug; returns the exit code. */
export function printError(error: unknown, json: boolean): Promise<number> {
  if (!(error instanceof AppError)) throw error;
  const { code, message, suggestion, details } = error;
  const text = [`${code}: ${message}`, suggestion ?? ""].join("\n").trim();
  const structured = { success: false as const, error: { code, message, suggestion, details } };
  return printFailedOutcome({ failed: true, structured, text }, json);
}
