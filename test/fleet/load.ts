/** Users at work on a fleet: they start, ask, list and cancel through all servers, and take no for an answer. */

import { setTimeout as sleep } from "node:timers/promises";
import { connectHttp, type HttpClient } from "../kit/server/http-server.ts";
import type { ToolResult } from "../kit/server/server.ts";
import type { FleetWorld } from "./world.ts";

export interface Load {
  /** Calls that were answered, and those that met a server or a database that was away. */
  answered: number;
  refused: number;
  /** Nothing new is asked; done when every call has come back. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  /** Between two deeds of one user at one server, on average. */
  pauseMs: number;
}

const CALL_MS = 30_000;
let questions = 0;

export function beginLoad(world: FleetWorld, { pauseMs }: LoadOptions): Load {
  let stopped = false;
  const goesOn = (): boolean => !stopped;
  const load: Load = {
    answered: 0,
    refused: 0,
    stop: async () => {
      stopped = true;
      await Promise.all(lanes);
    },
  };

  const lane = async (url: string, token: string): Promise<void> => {
    const own: string[] = [];
    let client: HttpClient | undefined;
    while (goesOn()) {
      try {
        client ??= await connectHttp(url, "modern", token);
        const answer = await deed(world, client, own);
        if (answer.isError) load.refused += 1;
        else load.answered += 1;
      } catch {
        load.refused += 1;
      }
      await sleep(pauseMs * 2 * world.random());
    }
    await client?.close().catch(() => undefined);
  };
  const lanes = world.members.flatMap(({ url }) =>
    url === undefined ? [] : world.tokens.map((token) => lane(url, token)),
  );
  return load;
}

async function deed(world: FleetWorld, client: HttpClient, own: string[]): Promise<ToolResult> {
  const { call } = client;
  const chance = world.random();
  const some = own[Math.floor(world.random() * own.length)];
  const within = { timeout: CALL_MS };
  if (some === undefined || chance < 0.35) {
    const answer = await startRun(world, client, "the lake");
    const { task_id: taskId } = answer.structured ?? {};
    if (typeof taskId === "string") own.push(taskId);
    return answer;
  }
  if (chance < 0.4) return call("cancel_research", { task_id: some }, within);
  if (chance < 0.5) return call("list_research", {}, within);
  return call("check_research_status", { task_id: some }, within);
}

/** The answer is kept in the world: a run that a client was given the id of may not be lost. */
export async function startRun(world: FleetWorld, { call }: HttpClient, topic: string): Promise<ToolResult> {
  const query = `Question ${(questions += 1)} about ${topic}`;
  const answer = await call("start_deep_research", { query }, { timeout: CALL_MS });
  // A refusal has none.
  const { task_id: taskId, success, joined } = answer.structured ?? {};
  if (typeof taskId !== "string") return answer;
  world.returned.add(taskId);
  if (success === true && joined !== true) world.accepted.add(taskId);
  return answer;
}
