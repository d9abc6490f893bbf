/** Derives what a run is doing at the moment from its events. */

/** Text of the event that is stored when the first words of a report arrive. */
export const WRITING = "Writing the report";

/** Position of the last event of each kind in a run of Google's agent; undefined if there is none. */
interface LastEvents {
  thought: number | undefined;
  search: number | undefined;
  source: number | undefined;
  phase: number | undefined;
}

/** Google may send thoughts only: then it is not known whether the agent searches or reads. */
export function agentPhase({ thought, search = 0, source = 0, phase = 0 }: LastEvents): string {
  // Sites that are named while the report is written are cited, not read.
  if (phase > search) return "Writing";
  if (source > search) return "Reading";
  if (search > 0) return "Searching";
  return thought === undefined ? "Planning" : "Researching";
}
