/** Evaluates recorded polls: rate, bursts, gaps between polls of one run, and lateness. Times are in milliseconds. */

export interface Poll {
  run: number;
  at: number;
}

export interface Span {
  from: number;
  to: number;
}

export const within = (polls: readonly Poll[], { from, to }: Span): Poll[] =>
  polls.filter(({ at }) => at >= from && at < to);

export const perSecond = (polls: readonly Poll[], span: Span): number =>
  (within(polls, span).length * 1_000) / (span.to - span.from);

/** Over any window of one second. */
export function maxInOneSecond(polls: readonly Poll[]): number {
  const times = polls.map(({ at }) => at).toSorted((one, other) => one - other);
  let first = 0;
  let max = 0;
  for (const [index, at] of times.entries()) {
    while ((times[first] ?? at) <= at - 1_000) first += 1;
    max = Math.max(max, index - first + 1);
  }
  return max;
}

export function timesByRun(polls: readonly Poll[]): Map<number, number[]> {
  const times = new Map<number, number[]>();
  for (const { run, at } of polls) {
    const known = times.get(run);
    if (known === undefined) times.set(run, [at]);
    else known.push(at);
  }
  return times;
}

/** Gaps between consecutive polls of the same run. */
export const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((at, index) => at - (times[index] ?? at));

export interface Due {
  run: number;
  at: number;
}

/** Time from when a poll was due until it was received, for received polls. */
export function latenessOf(due: readonly Due[], polls: readonly Poll[]): number[] {
  const times = timesByRun(polls);
  return due.flatMap(({ run, at }) => {
    const polled = times.get(run)?.[0];
    return polled === undefined ? [] : [Math.max(0, polled - at)];
  });
}

/**
 * Runs with a gap above the limit between two polls, or after the last one, since a failure; and the longest time one
 * of them waited from then on for its next poll.
 */
export function lateAfter(polls: readonly Poll[], { from, to }: Span, limitMs: number) {
  const late: number[] = [];
  let worstMs = 0;
  for (const [run, times] of timesByRun(polls)) {
    const around = [...times.filter((at) => at <= from).slice(-1), ...times.filter((at) => at > from)];
    const gaps = [...gapsOf(around), to - (around.at(-1) ?? from)];
    if (Math.max(...gaps) <= limitMs) continue;
    late.push(run);
    worstMs = Math.max(worstMs, (times.find((at) => at > from) ?? to) - from);
  }
  return { late, worstMs };
}
