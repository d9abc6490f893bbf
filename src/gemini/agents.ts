/** Names of Google's Deep Research agents, and replacements for agents that Google has shut down. */

export const DEFAULT_AGENT = "deep-research-preview-04-2026";

export const AGENTS = [DEFAULT_AGENT, "deep-research-max-preview-04-2026"] as const;

/** Agents that Google has shut down, each with its replacement. */
const SUCCESSORS = new Map<string, string>([
  // 2026-10-23
  ["deep-research-pro-preview-12-2025", DEFAULT_AGENT],
]);

export function currentAgent(requested: string): { agent: string; notice: string | undefined } {
  const successor = SUCCESSORS.get(requested);
  return successor === undefined
    ? { agent: requested, notice: undefined }
    : { agent: successor, notice: `Google has shut down ${requested}; its successor ${successor} is used instead.` };
}
