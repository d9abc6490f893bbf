/** How far a background run probably is. Google says no percentage; searches and time are all there is. */

/** Searches and minutes of a typical task, from Google's documentation of the agents. */
const TYPICAL = {
  standard: { searches: 80, minutes: 10 },
  max: { searches: 160, minutes: 20 },
};

const typicalOf = (agent: string) => (agent.includes("-max-") ? TYPICAL.max : TYPICAL.standard);

export interface Sign {
  agent: string;
  elapsedMs: number;
  /** Seen so far; 0 when Google shows none before the end. */
  searches: number;
}

/** 0 to 95. Time alone approaches but never claims the end. */
export function progressOf({ agent, elapsedMs, searches }: Sign): number {
  const typical = typicalOf(agent);
  const bySearches = 5 + 85 * Math.min(1, searches / typical.searches);
  const byTime = 90 * (1 - Math.exp(-Math.max(0, elapsedMs) / (typical.minutes * 60_000)));
  return Math.min(95, searches > 0 ? Math.max(bySearches, byTime / 2) : byTime);
}

export const typicalMinutes = (agent: string): number => typicalOf(agent).minutes;
