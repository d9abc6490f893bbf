/** The behaviour of the scripted model: a small state machine over the tool results it receives. */

import type { Exchange, OfferedTool, Turn } from "./model-api.ts";
import type { Script, Step } from "./model.ts";

export const QUESTION = "How do heat pumps perform in cold climates?";
/** Marks a final answer, to distinguish it from other output of a client. */
export const DONE = "LAB-DONE";

/** Delay between two status checks, if the tool itself cannot wait. */
const STATUS_DELAY_MS = 3_000;
const WAIT_SECONDS = 45;

const TASK_ID = /task_id[\\"']*\s*[:=]\s*[\\"']*([\w-]{8,})/;
const CURSOR = /cursor\W+(\d+-\d+-[0-9a-f]{8}(?:-stalled)?)/;
const NEXT = /next_section\W+(\d[\d.~+]*)/;
export const STATUS = /(?:^|[^\w])status[\\"']*\s*[:=]\s*[\\"']*(\w+)/;

/** Most clients put the server's name before the tool's, some in a spelling of their own. */
export const isNamed = (full: string, tool: string): boolean =>
  full.endsWith(tool) && /^$|gemini[-_]search(?:__|[/_])$/.test(full.slice(0, -tool.length));

const toolNamed = ({ tools }: Turn, name: string): OfferedTool | undefined =>
  tools.find((tool) => isNamed(tool.name, name));

const has = (tool: OfferedTool, parameter: string): boolean =>
  JSON.stringify(tool.parameters).includes(`"${parameter}"`);

export function call(turn: Turn, name: string, input: Record<string, unknown>): Step | undefined {
  const tool = toolNamed(turn, name);
  return tool === undefined ? undefined : { reply: { tool, input } };
}

export function checkStatus(turn: Turn, task_id: string): Step | undefined {
  const tool = toolNamed(turn, "check_research_status");
  if (tool === undefined) return undefined;
  if (has(tool, "wait_seconds")) {
    const cursor = CURSOR.exec(turn.exchanges.at(-1)?.output ?? "")?.[1];
    return { reply: { tool, input: { task_id, wait_seconds: WAIT_SECONDS, ...(cursor && { cursor }) } } };
  }
  return { reply: { tool, input: { task_id } }, after_ms: STATUS_DELAY_MS };
}

/** The tool that returns reports. */
export const READ = "get_research_results";

/** The first heading proves that the model received the report. */
export function finalAnswer(output: string): string {
  const heading = /# ([^\n\\]+)/.exec(output)?.[1] ?? "no heading";
  return `${DONE}: ${heading}`;
}

export const finish = ({ output }: Exchange): Step => ({ reply: { text: finalAnswer(output) } });

export const taskIdIn = (exchanges: readonly Exchange[]): string | undefined =>
  exchanges.map(({ output }) => TASK_ID.exec(output)?.[1]).find((id) => id !== undefined);

const ENDED = ["completed", "failed", "cancelled"];

/** From a task_id on: check the status until the run has ended, then read the report. */
export function collect(turn: Turn): Step | undefined {
  const last = turn.exchanges.at(-1);
  const task_id = taskIdIn(turn.exchanges);
  if (last === undefined || task_id === undefined) return { reply: { text: `${DONE}: no task_id was received` } };
  if (isNamed(last.tool, READ)) return readOn(turn, last, task_id);
  const status = STATUS.exec(last.output)?.[1];
  return ENDED.includes(status ?? "") ? call(turn, READ, { task_id }) : checkStatus(turn, task_id);
}

/** A long report is read section by section. */
function readOn(turn: Turn, last: Exchange, task_id: string): Step | undefined {
  const section = NEXT.exec(last.output)?.[1];
  return section === undefined ? finish(last) : call(turn, READ, { task_id, section });
}

/** Calls a tool first, after requesting the tools if necessary. */
export const opening =
  (name: string, input: Record<string, unknown>, then: Script): Script =>
  (turn) => {
    if (toolNamed(turn, name) === undefined) return turn.load === undefined ? undefined : { reply: turn.load };
    return turn.exchanges.length === 0 ? call(turn, name, input) : then(turn);
  };

/** Starts a research run, polls it, and reads its report. */
export const RESEARCH = opening("start_deep_research", { query: QUESTION }, collect);

/** One blocking call. */
export const BLOCKING = opening("deep_search", { query: QUESTION }, ({ exchanges }) => {
  const last = exchanges.at(-1);
  return last === undefined ? undefined : finish(last);
});

/** One call that ends within seconds. */
export const QUICK = opening("search", { query: QUESTION }, ({ exchanges }) => {
  const last = exchanges.at(-1);
  return last === undefined ? undefined : finish(last);
});

/** Starts in a new session that knows only that there was a run. */
export const COME_BACK = opening("list_research", {}, collect);
