/** The events that webhooks and MCP clients are sent, and the bodies that receivers of one kind expect. */

export const EVENTS = [
  "research.finished",
  "research.failed",
  "research.needs_approval",
  "research.changed",
  "budget.threshold",
] as const;

export type EventName = (typeof EVENTS)[number];

/** Besides `standard`, which is that of Standard Webhooks. */
export const SHAPES = ["standard", "slack", "teams", "ntfy"] as const;
