/** Reads stored rows as runs. */

import type { Selectable } from "kysely";
import { z } from "zod";
import type { Tables } from "../store/database.ts";
import { obstacleOf } from "./poll/obstacle.ts";
import {
  FOLLOWUP_CONTEXTS,
  IMPORTED,
  type PolledRun,
  RUN_KINDS,
  RUN_PARTS,
  type Run,
  type RunAtGoogle,
  type RunStatus,
  STORED_STATUSES,
} from "./run.ts";
import { type CostOfRun, costOfRun } from "./ledger/ledger-store.ts";

/** Created once: creating a schema takes longer than reading a row with it. */
const storedStatus = z.enum(STORED_STATUSES);
const storedKind = z.enum(RUN_KINDS);
const storedPart = z.enum(RUN_PARTS);
const storedContext = z.enum(FOLLOWUP_CONTEXTS).nullable();

/** A stored run with what the ledger says of its cost. */
export type Row = Selectable<Tables["research_tasks"]> & CostOfRun;

/** A plan waits for the user, who approves or changes it; the research is a run of its own. */
export const statusOf = ({ part, status }: Pick<Row, "part" | "status">): RunStatus =>
  part === "plan" && status === "completed" ? "awaiting_approval" : storedStatus.parse(status);

/**
 * Whether it is certain that nothing was charged, although no usage was reported: Google accepted no paid request, or
 * every request of a search failed before Google answered it. A cancel that is not confirmed may have come too late.
 */
function isUncharged(row: Row): boolean {
  if (row.backend === IMPORTED) return true;
  // The ledger has each request from before it is sent.
  if (row.kind !== "agent") return row.status === "failed" && row.may_be_charged !== 1;
  const hasEnded = row.status === "failed" || (row.status === "cancelled" && row.cancel_confirmed === 1);
  return hasEnded && row.interaction_id === null;
}

const usageOf = (row: Row): Pick<Run, "cost" | "usageFinal"> =>
  row.cost_micros === null && isUncharged(row)
    ? { cost: UNCHARGED, usageFinal: true }
    : { cost: costOfRun(row), usageFinal: row.usage_final === 1 };

function errorOf({ error_code: code, error_message: message, error_suggestion: suggestion }: Row): Run["error"] {
  if (code === null) return undefined;
  return { code, message: message ?? "", ...(suggestion === null ? {} : { suggestion }) };
}

/** Each tag stands between two spaces, so that one is found without its parts. */
export const readTags = (stored: string | null): string[] => (stored ?? "").split(" ").filter((tag) => tag !== "");
export const storedTags = (tags: readonly string[]): string | null =>
  tags.length === 0 ? null : ` ${tags.join(" ")} `;

export const runOf = (row: Row): Run => ({
  taskId: row.task_id,
  owner: row.owner,
  kind: storedKind.parse(row.kind),
  part: storedPart.parse(row.part),
  query: row.query,
  title: row.title ?? undefined,
  tags: readTags(row.tags),
  note: row.note ?? undefined,
  starred: row.starred === 1,
  archived: row.archived === 1,
  status: statusOf(row),
  progress: row.progress,
  currentAction: row.current_action ?? undefined,
  obstacle: obstacleOf(row),
  hasWarning: row.has_warning === 1,
  mode: row.mode ?? undefined,
  backend: row.backend ?? undefined,
  model: row.model ?? undefined,
  client: row.client ?? undefined,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  startedAt: row.started_at ?? undefined,
  completedAt: statusOf(row) === "awaiting_approval" ? undefined : (row.completed_at ?? undefined),
  deadlineAt: row.deadline_at ?? undefined,
  lastEventAt: row.last_event_at ?? undefined,
  interactionId: row.interaction_id ?? undefined,
  parentTaskId: row.parent_task_id ?? undefined,
  carriesOn: row.carries_on ?? undefined,
  followupContext: storedContext.parse(row.followup_context) ?? undefined,
  cancelRequestedAt: row.cancel_requested_at ?? undefined,
  cancelConfirmed: row.cancel_confirmed === null ? undefined : row.cancel_confirmed === 1,
  enableNotifications: row.enable_notifications === 1,
  estimate: storedJson(row.estimate_json ?? "{}", anyRecord),
  options: storedJson(row.options_json, anyRecord),
  tokens: { input: row.tokens_input, output: row.tokens_output },
  ...usageOf(row),
  error: errorOf(row),
});

/** Of a row with an interaction id. */
export const runAtGoogleOf = (row: Row): RunAtGoogle => ({ ...runOf(row), interactionId: row.interaction_id ?? "" });

export const polledRunOf = (row: Row): PolledRun => ({
  ...runAtGoogleOf(row),
  status: storedStatus.parse(row.status),
  deadlineAt: row.deadline_at ?? Number.MAX_SAFE_INTEGER,
  completedAt: row.completed_at ?? row.created_at,
  oddAnswer: row.odd_answer ?? undefined,
});

/** The cost of a run that was certainly not charged. */
const UNCHARGED: Run["cost"] = { usd: 0, incomplete: false, estimated: false };

/** JSON of any fields, such as options and metadata. */
export const anyRecord = z.record(z.string(), z.unknown());

export const storedJson = <Value>(json: string, schema: z.ZodType<Value>): Value => schema.parse(JSON.parse(json));
