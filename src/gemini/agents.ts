/** Google's Deep Research agents by name, and what became of the ones it shut down. */

export const DEFAULT_AGENT = "deep-research-preview-04-2026";

export const AGENTS = [DEFAULT_AGENT, "deep-research-max-preview-04-2026"] as const;

/** Shut down by Google; asked for, the successor answers. */
const SUCCESSORS = new Map<string, string>([
  // 2026-10-23
  ["deep-research-pro-preview-12-2025", DEFAULT_AGENT],
]);

export function currentAgent(asked: string): { agent: string; notice: string | undefined } {
  const successor = SUCCESSORS.get(asked);
  return successor === undefined
    ? { agent: asked, notice: undefined }
    : { agent: successor, notice: `Google has shut down ${asked}; its successor ${successor} is used instead.` };
}
