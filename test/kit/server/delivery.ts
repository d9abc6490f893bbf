/** Ways in which the result of a long run reaches a client with a request timeout of sixty seconds. */

import type { Client } from "@modelcontextprotocol/client";
import type { Era, ToolResult } from "./server.ts";
import { openTasks, settled } from "./tasks.ts";

export interface Peer {
  transport: "stdio" | "HTTP";
  era: Era;
  client: Client;
}

export interface LongRun {
  /** Must be unique: the run is found by its query. */
  query: string;
  /** The `wait_seconds` of `check_research_status`. */
  waitSeconds: number;
  /** Maximum rounds of a deep search. */
  rounds?: number;
  /** Called with every progress notification. */
  onProgress?: () => void;
}

export interface Delivery {
  taskId: string;
  /** The final status of the run. */
  status: string;
  report: string;
  partial: boolean;
  /** Why the call itself failed. */
  lost?: string;
  /** Requests for which progress was recorded. */
  requests: Request[];
}

export interface Request {
  tool: string;
  tookMs: number;
  /** Time until the first progress notification or, if earlier, the response. */
  firstMessageMs: number;
  /** The longest time without a message, up to the response or the timeout. */
  silenceMs: number;
}

type Input = Record<string, string | number>;

const UNFINISHED = ["pending", "running", "running_async"];

/** Starts the agent, polls its status until it has ended, and reads the report. */
export async function byPolling(peer: Peer, run: LongRun): Promise<Delivery> {
  const requests: Request[] = [];
  const { structured } = await ask(peer, { run, tool: "start_deep_research", input: { query: run.query }, requests });
  return whenOver(peer, { run, taskId: structured["task_id"], requests });
}

/** The same research as a task, through the official tasks client. */
export async function byTask(peer: Peer, { query }: LongRun): Promise<Delivery> {
  const { session } = openTasks(peer);
  const execution = await session.callTool("start_deep_research", { query }, { task: { preference: "require" } });
  if (execution.kind !== "task") throw new Error("The call did not become a task.");
  const { task_id: taskId, status, results } = (await settled(execution)).structured;
  return { taskId, status, report: results.report, partial: false, requests: [] };
}

/** A blocking call by a client whose timeout is reset by progress. */
export async function byProgress(peer: Peer, run: LongRun): Promise<Delivery> {
  const requests: Request[] = [];
  const asked = { run, tool: "deep_search", input: deepSearchInput(run), requests, resetTimeoutOnProgress: true };
  const { result: report, metadata } = (await ask(peer, asked)).structured;
  return { taskId: metadata.task_id, status: "completed", report, partial: false, requests };
}

/** A blocking call by a client that times out regardless of progress, and finds the run later. */
export async function byTimingOut(peer: Peer, run: LongRun): Promise<Delivery> {
  const requests: Request[] = [];
  const lost = await lossOf(ask(peer, { run, tool: "deep_search", input: deepSearchInput(run), requests }));
  return { ...(await findByQuery(peer, run, requests)), lost };
}

/** Resumes a search that stopped, as a new run. */
export async function byResuming(peer: Peer, run: LongRun, stopped: Delivery): Promise<Delivery> {
  const requests: Request[] = [];
  const { structured } = await ask(peer, {
    run,
    tool: "resume_research",
    input: { task_id: stopped.taskId },
    requests,
  });
  return whenOver(peer, { run, taskId: structured["task_id"], requests });
}

/** A blocking call by a client that disconnects; another client finds the run. */
export async function byDisconnecting(
  peer: Peer,
  { run, when, reader }: { run: LongRun; when: Promise<unknown>; reader: Peer },
): Promise<Delivery> {
  const requests: Request[] = [];
  const asked = { run, tool: "deep_search", input: deepSearchInput(run), requests, resetTimeoutOnProgress: true };
  const call = lossOf(ask(peer, asked));
  await when;
  await peer.client.close();
  return { ...(await findByQuery(reader, run, requests)), lost: await call };
}

const deepSearchInput = ({ query, rounds }: LongRun): Input => ({
  query,
  ...(rounds === undefined ? {} : { max_iterations: rounds }),
});

const lossOf = (call: Promise<ToolResult>): Promise<string> =>
  call.then(
    () => {
      throw new Error("The call returned a result, although the client should have stopped waiting.");
    },
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** Finds the run by its query alone. */
async function findByQuery(peer: Peer, run: LongRun, requests: Request[]): Promise<Delivery> {
  const { structured } = await ask(peer, { run, tool: "list_research", input: { limit: 100 }, requests: [] });
  const runs: { task_id: string; query: string }[] = structured["runs"];
  const taskId = runs.find(({ query }) => query === run.query)?.task_id;
  if (taskId === undefined) throw new Error("The run is not in the list.");
  return whenOver(peer, { run, taskId, requests });
}

async function whenOver(
  peer: Peer,
  { run, taskId, requests }: { run: LongRun; taskId: string; requests: Request[] },
): Promise<Delivery> {
  const input = { task_id: taskId, wait_seconds: run.waitSeconds };
  let status = "";
  do {
    const answer = await ask(peer, { run, tool: "check_research_status", input, requests });
    status = answer.structured["status"];
  } while (UNFINISHED.includes(status));
  const { structured } = await ask(peer, { run, tool: "get_research_results", input: { task_id: taskId }, requests });
  return { taskId, status, report: structured["report"], partial: structured["partial"] === true, requests };
}

interface Asked {
  run: LongRun;
  tool: string;
  input: Input;
  /** Records every request, also failed ones. */
  requests: Request[];
  resetTimeoutOnProgress?: boolean;
}

async function ask({ client }: Peer, asked: Asked): Promise<ToolResult> {
  const { run, tool, input, requests, resetTimeoutOnProgress = false } = asked;
  const begun = performance.now();
  const received = [begun];
  try {
    const result = await client.callTool(
      { name: tool, arguments: input },
      {
        resetTimeoutOnProgress,
        onprogress: () => {
          received.push(performance.now());
          run.onProgress?.();
        },
      },
    );
    const [content] = result.content;
    const text = content?.type === "text" ? content.text : "";
    if (result.isError === true) throw new Error(`${tool} failed: ${text}`);
    return { isError: false, structured: result.structuredContent as ToolResult["structured"], text };
  } finally {
    received.push(performance.now());
    const silences = received.slice(1).map((at, index) => at - (received[index] ?? at));
    requests.push({
      tool,
      tookMs: performance.now() - begun,
      firstMessageMs: silences[0] ?? 0,
      silenceMs: Math.max(...silences),
    });
  }
}
