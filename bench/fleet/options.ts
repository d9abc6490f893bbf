/** Command line options of the fleet bench. */

export interface FleetOptions {
  runs: number;
  /** Duration of each measurement. */
  seconds: number;
  /** Ascending numbers of workers. */
  workers: number[];
  /** Names of phases; empty for all. */
  only: string[];
}

const DEFAULT_OPTIONS: FleetOptions = { runs: 10_000, seconds: 15, workers: [1, 2, 4, 8], only: [] };

const listOf = (text: string | undefined): string[] | undefined => text?.split(",").filter((part) => part !== "");

export function readFleetOptions(values: Record<string, string | undefined>): FleetOptions {
  const { runs, seconds, workers, only } = values;
  const options = {
    runs: Number(runs ?? DEFAULT_OPTIONS.runs),
    seconds: Number(seconds ?? DEFAULT_OPTIONS.seconds),
    workers: listOf(workers)?.map(Number) ?? DEFAULT_OPTIONS.workers,
    only: listOf(only) ?? DEFAULT_OPTIONS.only,
  };
  const isPositive = (value: number): boolean => value > 0 && Number.isFinite(value);
  if (options.workers.length === 0 || ![options.runs, options.seconds, ...options.workers].every(isPositive)) {
    throw new Error("--runs, --seconds and --workers take positive numbers, for example --workers 1,2,4.");
  }
  return options;
}
