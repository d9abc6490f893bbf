/** Which requests are answered at once from what is stored: they pass also when a user has no stream left. */

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

/** A run can be stopped, and its report read, above all when too much is going on. */
export function isShort({ method, params }: Record<string, unknown>): boolean {
  if (method !== "tools/call") return typeof method === "string" && METHODS.has(method);
  const { name, arguments: given } = isRecord(params) ? params : {};
  if (typeof name !== "string" || !TOOLS.has(name)) return false;
  const wait = isRecord(given) ? given["wait_seconds"] : undefined;
  return wait === undefined || wait === 0;
}
