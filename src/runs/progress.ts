/** Estimates the progress of a background run from what Google has shown of its work: Google reports no percentage. */

/**
 * Searches and minutes of a typical task are from Google's documentation of the agents. The one stream of a standard
 * run that was recorded whole has 38 thoughts; those of a thorough run are derived from it.
 */
const TYPICAL = {
  standard: { searches: 80, thoughts: 38, minutes: 10 },
  max: { searches: 160, thoughts: 76, minutes: 20 },
  /** Derived: a model that answers a follow-up searches a few times. */
  model: { searches: 4, thoughts: 4, minutes: 1 },
};

function typicalOf(agent: string) {
  if (agent.startsWith("gemini-")) return TYPICAL.model;
  return agent.includes("-max-") ? TYPICAL.max : TYPICAL.standard;
}

/** 0 to 90. 0 means that nothing was seen yet: a run that nobody watches usually stays there until its end. */
export function progressBySeen(agent: string, { searches, thoughts }: { searches: number; thoughts: number }): number {
  const typical = typicalOf(agent);
  const share = Math.min(1, Math.max(searches / typical.searches, thoughts / typical.thoughts));
  return share === 0 ? 0 : 5 + 85 * share;
}

export const typicalMinutes = (agent: string): number => typicalOf(agent).minutes;
