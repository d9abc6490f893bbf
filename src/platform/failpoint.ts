/** Named places at which a test build can die or stand still: how recovery is proved. The product build has none of it. */

/** Replaced when the test build is made; unknown everywhere else. */
declare const FAILPOINT: string | undefined;

const wanted = typeof FAILPOINT === "string" ? FAILPOINT.split(":") : [];
let passes = 0;

/** Dies at once and without a word at the n-th pass of `name:n`; with `name:n:stop` it stands still until SIGCONT. */
export function failpoint(name: string): void {
  if (wanted[0] !== name) return;
  passes += 1;
  if (passes === Number(wanted[1] ?? 1)) process.kill(process.pid, wanted[2] === "stop" ? "SIGSTOP" : "SIGKILL");
}

declare const START_LIMIT_MS: string | undefined;

/** The time limit of a paid request, which the test build can shorten. */
export const startLimitMs = (usual: number): number =>
  typeof START_LIMIT_MS === "string" ? Number(START_LIMIT_MS) : usual;
