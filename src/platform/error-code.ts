/** Reads the code of a system, driver or library error, such as ENOENT. */

/** Returns an empty string if the error has none. */
export const errorCodeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

export const isDiskFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(errorCodeOf(error));
