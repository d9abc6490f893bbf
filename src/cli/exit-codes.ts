/** Exit codes of the commands. */

import type { FailureAnswer } from "../operations/perform.ts";

export const EXIT_CODES = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

const INPUT_CODES = ["INVALID_QUERY", "INVALID_TASK_ID", "INVALID_INPUT"];

export const failureCode = ({ error }: FailureAnswer): number =>
  INPUT_CODES.includes(error.code) ? EXIT_CODES.usage : EXIT_CODES.failed;
