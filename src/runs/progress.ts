/** How far a background run probably is. Google says no percentage; searches and time are all there is. */

/** Searches and minutes of a typical task, from Google's documentation of the agents. */
const TYPICAL = {
  standard: { searches: 80, minutes: 10 },
  max: { searches: 160, minutes: 20 },
};

const typicalOf = (agent: string) => (agent.includes("-max-") ? TYPICAL.max : TYPICAL.standard);

/** 0 when Google shows no searches, which is the rule before the end; at most 90. */
export const progressBySearches = (agent: string, searches: number): number =>
  searches === 0 ? 0 : 5 + 85 * Math.min(1, searches / typicalOf(agent).searches);

/** Time alone approaches 90 and never claims the end. Nothing stores it: it is computed when a run is read. */
export const progressByTime = (agent: string, elapsedMs: number): number =>
  Math.round(90 * (1 - Math.exp(-Math.max(0, elapsedMs) / (typicalOf(agent).minutes * 60_000))));

export const typicalMinutes = (agent: string): number => typicalOf(agent).minutes;
