/** Requests that are answered at once from the store, and therefore need no stream permit. */

import { isRecord } from "../../platform/is-record.ts";

const METHODS = new Set([
  "ping",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
  "tasks/list",
  "tasks/get",
  "tasks/cancel",
]);

const TOOLS = new Set([
  "cancel_research",
  "check_research_status",
  "list_research",
  "get_research_results",
  "estimate_research_cost",
  "save_research_to_markdown",
]);

/** At the stream limit a user must still be able to stop runs and to read reports. */
export function isShortRequest({ method, params }: Record<string, unknown>): boolean {
  if (method !== "tools/call") return typeof method === "string" && METHODS.has(method);
  const { name, arguments: given } = isRecord(params) ? params : {};
  if (typeof name !== "string" || !TOOLS.has(name)) return false;
  const wait = isRecord(given) ? given["wait_seconds"] : undefined;
  return wait === undefined || wait === 0;
}
