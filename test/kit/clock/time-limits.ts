/**
 * Several tests share two cores here, so a process may take seconds to start or to be scheduled. The limits that
 * users are promised are measured on a quiet machine by `npm run lab -- shutdown` and `npm run bench`.
 */

/** The limit for a test that shares its cores: far above the promise, far below the wait that a defect causes. */
export const onBusyMachine = (promisedMs: number): number => 4 * promisedMs;

/** Within this time a new process has started and printed its first line. */
export const PROCESS_STARTED_MS = 4_000;

/** Far above what linear code needs for the texts of a test, and below what quadratic code needs. */
export const MAX_PROCESSOR_MS = 4_000;

/** The processor time of a synchronous task. Unlike elapsed time, it leaves out the turns of other tests. */
export function processorMs(task: () => void): number {
  const before = process.threadCpuUsage();
  task();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
