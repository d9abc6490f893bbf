/** Prints the error that ended a command: text on stderr, with --json also the structured form on stdout. */

import { AppError } from "../errors.ts";
import { type Failure, failureOf } from "../operations/perform.ts";
import { failureCode } from "./exit-codes.ts";
import { print, printFailure } from "./output.ts";
import { type FailureSpace, failureView } from "./render/failure-view.ts";
import { paintFor } from "./render/paint.ts";

interface Printing extends Pick<FailureSpace, "finishedRounds"> {
  json: boolean;
}

/** Returns the exit code. */
export async function printFailedOutcome(failure: Failure, { json, ...more }: Printing): Promise<number> {
  const { structured } = failure;
  const { stderr } = process;
  await printFailure(failureView(failure, { isTerminal: stderr.isTTY, paint: paintFor(stderr), ...more }));
  if (json) await print(JSON.stringify(structured, null, 2));
  return failureCode(structured);
}

/** For commands that are no operation. Rethrows a bug; returns the exit code. */
export function printError(error: unknown, json: boolean): Promise<number> {
  if (!(error instanceof AppError)) throw error;
  return printFailedOutcome(failureOf(error), { json });
}
