/** The only reader and writer of environment variables. */

export type Environment = Record<string, string | undefined>;

export const readEnvironment = (): Environment => process.env;

/** This variable makes Google's SDK print request headers, including the key, to stdout. */
export function disableSdkDebugLogging(): void {
  delete process.env["GOOGLE_GENAI_DEBUG"];
}

/** Applies to Node.js and to child processes. */
export function disableColours(): void {
  delete process.env["FORCE_COLOR"];
  process.env["NO_COLOR"] = "1";
}
