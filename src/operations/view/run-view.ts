/**
 * What a surface sees of a run: the one projection of a stored run, at three depths.
 *
 * _Head_ is the row alone, so that a list costs one query (`head-view.ts`). _Live_ adds what the events, the plan and
 * the result of a watched run say (`read-view.ts`). _Whole_ adds the report (`whole-view.ts`). Fields are in
 * snake_case, times are ISO 8601 in UTC, and what is unknown is absent.
 * The page's API and the chat card are the view; a tool maps it to the names of its answer. Facts of a call (whether it
 * joined a run, its cursor, the section it asks for) are no part of it. How long a run has taken and still takes
 * is computed from the view where it is shown, because a page does so every second.
 */

import { z } from "zod";
import type { Verb } from "../../action.ts";
import type { FollowupContext, RunError, RunKind, RunStatus } from "../../runs/run.ts";
import type { Wishes } from "../../search/wishes.ts";

/** The fields in which every answer states a cost. */
export const costSchema = {
  cost_usd: z.number().optional().describe("At list prices; absent when no price is known."),
  cost_incomplete: z.boolean().optional().describe("True when a part has no price: cost_usd is a lower bound."),
  cost_estimated: z
    .boolean()
    .optional()
    .describe("True when a model was not in the price list and its family's highest price was used."),
};

export const tokensUsed = z
  .looseObject({ input: z.number(), output: z.number() })
  .describe("Tokens as Google counted them.");

const mark = z.literal(true).optional();
const time = z.string().optional();
const text = z.string().optional();
const number = z.number().optional();

/** Output schemas of tools are picks of it, so names are plain strings: an enum would lengthen the list of tools. */
export const runHead = z.object({
  task_id: z.string(),
  kind: z.string(),
  query: z.string(),
  /** The name that the user gave the run; without one it is shown by its question. */
  title: text,
  tags: z.array(z.string()).optional(),
  /** What the user noted on it. */
  note_of_user: text,
  /** A report that was written elsewhere. */
  imported: mark,
  starred: mark,
  /** Hidden from lists, unless archived runs are asked for. */
  archived: mark,
  status: z.string(),
  progress: z.number(),
  /** Google reports no percentage: the progress is estimated. */
  progress_is_estimate: mark,
  /** May be text of a model that has read the web. */
  current_action: z.string(),
  created_at: z.string(),
  started_at: time,
  completed_at: time,
  ...costSchema,
  /** The likely cost, estimated at the start. */
  estimated_usd: number,
  /** Google has sent nothing since. */
  stalled_since: time,
  /** Of a follow-up: whether Google continued the conversation, or got the stored report. */
  followup_context: text,
  /** A follow-up that makes a table of the report. */
  is_table: mark,
  /** While it is in progress: how long such runs take, for the time left. */
  usual_minutes: z.object({ likely: z.number(), max: z.number() }).optional(),
  /** Of a failed run. */
  error_code: text,
  error_message: text,
});

/** The row of a run. */
export interface RunHead extends z.output<typeof runHead> {
  kind: RunKind;
  status: RunStatus;
  followup_context?: FollowupContext | undefined;
}

/** A watched run: the rest of its row, and what its events, its plan and its result say. */
export interface RunLive extends RunHead {
  actions: RunAction[];
  has_report: boolean;
  /** The turn of the newest plan, which `GET /api/runs/:id/plan` returns. */
  plan_turn?: number | undefined;
  /** The text of a plan that waits for approval, or that has led to no report. */
  plan?: string | undefined;
  /** A plan waits for approval since then. */
  waiting_since?: string | undefined;
  /** No process has asked Google about it since. */
  unpolled_since?: string | undefined;
  /** The run ended early: the report is incomplete. */
  partial?: true | undefined;
  /** Redirect links of sources whose target was looked up and not found. */
  unresolved_links?: number | undefined;
  mode?: string | undefined;
  model?: string | undefined;
  backend?: string | undefined;
  client?: string | undefined;
  interaction_id?: string | undefined;
  parent_task_id?: string | undefined;
  /** Of the research; of a plan that waits for approval: when it expires. */
  deadline_at?: string | undefined;
  cancel_requested_at?: string | undefined;
  tokens: { input: number; output: number };
  /** False until Google has reported what the run used. */
  usage_final: boolean;
  /** What was wished of the answer, besides the question. */
  wishes?: Wishes | undefined;
  /** What was sent with the question, one line each. */
  material?: string[] | undefined;
  /** As of the start; while it is in progress without what its searches so far rule out. */
  estimate?: Partial<Record<"min_usd" | "likely_usd" | "max_usd" | "likely_minutes", number | undefined>> | undefined;
  /** While it is in progress. */
  activity?: LiveActivity | undefined;
  /** Text of a model that has read the web. */
  last_thought?: string | undefined;
  /** File with the report, if the database could not store it. */
  backup_file?: string | undefined;
  error?: RunError | undefined;
}

/** What a run is doing, as far as Google names it. */
interface LiveActivity {
  phase: string;
  searches: number;
  sites: number;
  /** Newest first; `url` is http or https. `domain` is empty if a redirect link hides it. */
  latest_sites: { url: string; title: string; domain: string }[];
}

/** An event or a milestone of a run. */
export interface TimelineEntry {
  /** Stable within the run: the same entry has the same id in `/api/live` and in the timeline. */
  id: string;
  at: string;
  kind: "state" | "thought" | "search" | "source" | "round";
  text: string;
}

/** A possible action on a run; lists are in the order in which to offer them. */
export type RunAction = Extract<Verb, "cancel" | "poll_again" | "continue" | "adopt" | "restart" | "delete">;
