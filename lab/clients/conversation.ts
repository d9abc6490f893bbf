/** A whole conversation with a scripted model: plan, change, approval, report, follow-up, table; and its judgement. */

import { isRecord } from "../../src/platform/is-record.ts";
import type { AcceptedStart } from "../../simulator/interactions/ledger.ts";
import type { Exchange, Turn } from "./model-api.ts";
import type { Script, Step } from "./model.ts";
import { call, checkStatus, finish, isNamed, opening, QUESTION, READ, STATUS, taskIdIn } from "./script.ts";
import type { WireFacts } from "./wire.ts";

const FOLLOW_UP = "Which of these is quietest at night?";
const COLUMNS = ["Heat pump", "Lowest temperature", "Noise at night"];
const ROWS = "One row per heat pump.";

/** The scripted model knows where it is by the calls it has made. */
function next(turn: Turn): Step | undefined {
  const { exchanges } = turn;
  const last = exchanges.at(-1);
  const task_id = taskIdIn(exchanges);
  if (last === undefined || task_id === undefined) return undefined;
  const made = (tool: string): number => exchanges.filter((exchange) => isNamed(exchange.tool, tool)).length;
  const [decisions, readings, followups] = [made("resume_research"), made(READ), made("ask_followup")];
  const status = STATUS.exec(last.output)?.[1];
  if (followups === 2) return finish(last);
  if (followups === 1 && readings === 2)
    return call(turn, "ask_followup", { task_id, question: ROWS, columns: COLUMNS });
  if (followups === 1) return call(turn, READ, { task_id, as: "table", columns: COLUMNS });
  if (readings === 1) return call(turn, "ask_followup", { task_id, question: FOLLOW_UP });
  if (decisions === 2) return status === "completed" ? call(turn, READ, { task_id }) : checkStatus(turn, task_id);
  if (status !== "awaiting_approval") return checkStatus(turn, task_id);
  const decision = decisions === 0 ? { plan_edit: "Leave out Asia." } : { approve: true };
  return call(turn, "resume_research", { task_id, ...decision });
}

export const CONVERSATION: Script = opening("start_deep_research", { query: QUESTION, plan: true }, next);

/** One paid start for each step of the conversation, in this order. */
const PAID = ["plan", "changed plan", "research", "follow-up", "table"];

function kindOf({ plan, model, structured }: AcceptedStart): string {
  if (model !== undefined) return structured === true ? "table" : "follow-up";
  if (plan === undefined || plan.isApproved) return "research";
  return plan.changes.length === 0 ? "plan" : "changed plan";
}

export const PAID_STARTS = PAID.length;

interface Played {
  starts: readonly AcceptedStart[];
  exchanges: readonly Exchange[];
  facts: WireFacts;
}

/** Undefined if every step was paid for once, and the model received a table with a source or a mark in every cell. */
export function conversationFailure({ starts, exchanges, facts }: Played): string | undefined {
  const paid = starts.map(kindOf);
  if (paid.join() !== PAID.join()) return `paid starts: ${paid.join(", ")} instead of ${PAID.join(", ")}`;
  const { structured = {} } = facts.answers.findLast(({ tool }) => tool === "ask_followup") ?? {};
  const { results } = structured;
  const table = isRecord(results) && isRecord(results["table"]) ? results["table"] : {};
  const rows = Array.isArray(table["rows"]) ? table["rows"].filter((row) => Array.isArray(row)) : [];
  if (rows.length === 0) return "no table was sent";
  const cells = rows.flat().filter(isRecord);
  const bare = cells.filter(
    ({ sources, mark }) => mark === undefined && (!Array.isArray(sources) || sources.length === 0),
  );
  if (bare.length > 0) return `${bare.length} cells without a source or a mark`;
  const seen = exchanges.at(-1)?.output ?? "";
  const unread = cells.filter(({ value }) => typeof value === "string" && !seen.includes(value));
  return unread.length === 0 ? undefined : `its model did not read ${unread.length} of ${cells.length} cells`;
}
