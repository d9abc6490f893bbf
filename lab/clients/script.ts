/** What the stand-in model does: a small state machine over the tool results that it gets to read. */

import type { Exchange, OfferedTool, Turn } from "./model-api.ts";
import type { Script, Step } from "./model.ts";

export const QUESTION = "How do heat pumps perform in cold climates?";
/** Stands in a final answer, so that it is told from anything else a client prints. */
export const DONE = "LAB-DONE";

/** Between two looks, where the tool itself cannot wait. */
const PAUSE_MS = 3_000;
const WAIT_SECONDS = 20;

const TASK_ID = /task_id[\\"']*\s*[:=]\s*[\\"']*([\w-]{8,})/;
const CURSOR = /cursor\W+(\d+-\d+-[0-9a-f]{8}(?:-stalled)?)/;
const NEXT = /next_section\W+(\d[\d.~]*)/;
const STATUS = /(?:^|[^\w])status[\\"']*\s*[:=]\s*[\\"']*(\w+)/;

export const isNamed = (full: string, tool: string): boolean => full.endsWith(tool);

const toolNamed = ({ tools }: Turn, name: string): OfferedTool | undefined =>
  tools.find((tool) => isNamed(tool.name, name));

const has = (tool: OfferedTool, parameter: string): boolean =>
  JSON.stringify(tool.parameters).includes(`"${parameter}"`);

function call(turn: Turn, name: string, input: Record<string, unknown>): Step | undefined {
  const tool = toolNamed(turn, name);
  return tool === undefined ? undefined : { reply: { tool, input } };
}

function look(turn: Turn, task_id: string): Step | undefined {
  const tool = toolNamed(turn, "check_research_status");
  if (tool === undefined) return undefined;
  if (has(tool, "wait_seconds")) {
    const cursor = CURSOR.exec(turn.exchanges.at(-1)?.output ?? "")?.[1];
    return { reply: { tool, input: { task_id, wait_seconds: WAIT_SECONDS, ...(cursor && { cursor }) } } };
  }
  return { reply: { tool, input: { task_id } }, after_ms: PAUSE_MS };
}

/** The tool that reports are read with. */
export const READ = "get_research_results";

/** The first heading proves that the model had the report before it. */
export function lastWord(output: string): string {
  const heading = /# ([^\n\\]+)/.exec(output)?.[1] ?? "no heading";
  return `${DONE}: ${heading}`;
}

const finish = ({ output }: Exchange): Step => ({ reply: { text: lastWord(output) } });

const taskIdIn = (exchanges: readonly Exchange[]): string | undefined =>
  exchanges.map(({ output }) => TASK_ID.exec(output)?.[1]).find((id) => id !== undefined);

/** From a task_id on: look until it is over, then read. */
function collect(turn: Turn): Step | undefined {
  const last = turn.exchanges.at(-1);
  const task_id = taskIdIn(turn.exchanges);
  if (last === undefined || task_id === undefined) return { reply: { text: `${DONE}: no task_id was received` } };
  if (isNamed(last.tool, READ)) return readOn(turn, last, task_id);
  const status = STATUS.exec(last.output)?.[1];
  return status === "completed" ? call(turn, READ, { task_id }) : look(turn, task_id);
}

/** A long report comes section by section. */
function readOn(turn: Turn, last: Exchange, task_id: string): Step | undefined {
  const section = NEXT.exec(last.output)?.[1];
  return section === undefined ? finish(last) : call(turn, READ, { task_id, section });
}

const opening =
  (name: string, input: Record<string, unknown>, then: Script): Script =>
  (turn) => {
    if (toolNamed(turn, name) === undefined) return turn.load === undefined ? undefined : { reply: turn.load };
    return turn.exchanges.length === 0 ? call(turn, name, input) : then(turn);
  };

/** Starts a research, follows it, reads it. */
export const RESEARCH = opening("start_deep_research", { query: QUESTION }, collect);

/** One call that blocks. */
export const BLOCKING = opening("deep_search", { query: QUESTION }, ({ exchanges }) => {
  const last = exchanges.at(-1);
  return last === undefined ? undefined : finish(last);
});

/** One call that ends within seconds. */
export const QUICK = opening("__search", { query: QUESTION }, ({ exchanges }) => {
  const last = exchanges.at(-1);
  return last === undefined ? undefined : finish(last);
});

/** Comes later and knows nothing but that there was something. */
export const COME_BACK = opening("list_research", {}, collect);
