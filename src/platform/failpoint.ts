/** Named places at which a test build can die: how recovery is proved. The product build contains none of it. */

/** Replaced when the test build is made; unknown everywhere else. */
declare const FAILPOINT: string | undefined;

const wanted = typeof FAILPOINT === "string" ? FAILPOINT.split(":") : [];
let passes = 0;

/** Dies at once and without a word at the n-th pass of `name:n`. */
export function failpoint(name: string): void {
  if (wanted[0] !== name) return;
  passes += 1;
  if (passes === Number(wanted[1] ?? 1)) process.kill(process.pid, "SIGKILL");
}
