/** Maps Google's errors of a failed interaction to causes that a user can act on. Google's text is not passed on. */

import { isRecord } from "../platform/is-record.ts";
import type { FailureCause } from "./research-agent.ts";
import { records, type InteractionStep } from "./interactions/report.ts";

/** String codes of the Interactions API, and the numeric google.rpc.Code and HTTP status that steps carry. */
const CAUSES_BY_CODE: Record<string, FailureCause> = {
  payment_required: "credits",
  "402": "credits",
  too_many_requests: "quota",
  rate_limit_exceeded: "quota",
  quota_exceeded: "quota",
  resource_exhausted: "quota",
  quota: "quota",
  "8": "quota",
  "429": "quota",
  safety: "blocked",
  blocked: "blocked",
  content_blocked: "blocked",
  prohibited_content: "blocked",
  recitation: "blocked",
  invalid_request: "rejected",
  invalid_argument: "rejected",
  bad_request: "rejected",
  failed_precondition: "rejected",
  parameter_unknown: "rejected",
  "3": "rejected",
  "9": "rejected",
  "400": "rejected",
  permission_denied: "access",
  forbidden: "access",
  authentication: "access",
  unauthenticated: "access",
  "7": "access",
  "16": "access",
  "401": "access",
  "403": "access",
  unavailable: "overloaded",
  service_unavailable: "overloaded",
  overloaded: "overloaded",
  "14": "overloaded",
  "503": "overloaded",
  deadline_exceeded: "timeout",
  timeout: "timeout",
  "4": "timeout",
  "504": "timeout",
};

/** Checks `interaction.errors[]` first, then the errors of its outputs, newest first. */
export function failureCauseOf(
  raw: Record<string, unknown>,
  steps: readonly InteractionStep[],
): FailureCause | undefined {
  const outputErrors = steps.filter(({ type }) => type === "model_output").map(({ error }) => error);
  const errors = [...records(raw["errors"]), raw["error"], ...outputErrors.toReversed()].filter(isRecord);
  if (errors.length === 0) return undefined;
  for (const { code } of errors) {
    const cause = causeOf(code);
    if (cause !== undefined) return cause;
  }
  return "internal";
}

/** A code may be a URL whose last segment is the name. */
function causeOf(code: unknown): FailureCause | undefined {
  if (typeof code !== "string" && typeof code !== "number") return undefined;
  const name = String(code).toLowerCase().replace(/^.*\//, "");
  return Object.hasOwn(CAUSES_BY_CODE, name) ? CAUSES_BY_CODE[name] : undefined;
}
