/** Estimates the progress of a background run from its searches and its age: Google reports no percentage. */

/** Searches and minutes of a typical task, from Google's documentation of the agents. */
const TYPICAL = {
  standard: { searches: 80, minutes: 10 },
  max: { searches: 160, minutes: 20 },
  /** Derived: a model that answers a follow-up searches a few times. */
  model: { searches: 4, minutes: 1 },
};

function typicalOf(agent: string) {
  if (agent.startsWith("gemini-")) return TYPICAL.model;
  return agent.includes("-max-") ? TYPICAL.max : TYPICAL.standard;
}

/** 0 to 90. Usually 0, because Google rarely reports searches before the end. */
export const progressBySearches = (agent: string, searches: number): number =>
  searches === 0 ? 0 : 5 + 85 * Math.min(1, searches / typicalOf(agent).searches);

/** Approaches 90 over time. Not stored: it is computed when a run is read. */
export const progressByTime = (agent: string, elapsedMs: number): number =>
  Math.round(90 * (1 - Math.exp(-Math.max(0, elapsedMs) / (typicalOf(agent).minutes * 60_000))));

export const typicalMinutes = (agent: string): number => typicalOf(agent).minutes;
