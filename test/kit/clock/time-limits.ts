/**
 * Several tests share two cores here, so a process may take seconds to start or to be scheduled. The limits that
 * users are promised are measured on a quiet machine by `npm run lab -- shutdown` and `npm run bench`.
 */

/** The limit for a test that shares its cores: far above the promise, far below the wait that a defect causes. */
export const onBusyMachine = (promisedMs: number): number => 4 * promisedMs;

/** Within this time a new process has started and printed its first line. */
export const PROCESS_STARTED_MS = 4_000;
