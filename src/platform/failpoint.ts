/**
 * Named points at which a test build can kill or stop its own process, to test recovery. The product build has none.
 */

/** Defined by the test build only. */
declare const FAILPOINT: string | undefined;

const wanted = typeof FAILPOINT === "string" ? FAILPOINT.split(":") : [];
let passes = 0;

/** Kills the process at the n-th pass of `name:n`; `name:n:stop` stops it until SIGCONT. */
export function failpoint(name: string): void {
  if (wanted[0] !== name) return;
  passes += 1;
  if (passes === Number(wanted[1] ?? 1)) process.kill(process.pid, wanted[2] === "stop" ? "SIGSTOP" : "SIGKILL");
}

declare const START_LIMIT_MS: string | undefined;

/** Time limit of a paid request, which the test build can shorten. */
export const startLimitMs = (defaultMs: number): number =>
  typeof START_LIMIT_MS === "string" ? Number(START_LIMIT_MS) : defaultMs;
