/** How a command tells a script what became of it. */

export const EXIT_CODES = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

const INPUT_CODES = new Set(["INVALID_QUERY", "INVALID_TASK_ID", "INVALID_INPUT"]);

/** Of an answer in the one error shape. */
export function failureCode(structured: Record<string, unknown>): number {
  const { error } = structured;
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  return INPUT_CODES.has(code) ? EXIT_CODES.usage : EXIT_CODES.failed;
}
