/** Reads the time limit of a background run from its stored options. */

const DEFAULT_WAIT_MS = 8 * 3_600_000;

export const maxWaitOf = (options: Record<string, unknown>): number =>
  Number(options["max_wait_ms"] ?? DEFAULT_WAIT_MS);
