/** Users of a fleet who start, check, list and cancel runs through all servers, and tolerate failures. */

import { setTimeout as sleep } from "node:timers/promises";
import { connectHttp, type HttpClient } from "../kit/server/http-server.ts";
import type { ToolResult } from "../kit/server/server.ts";
import type { FleetWorld } from "./world.ts";

export interface Load {
  /** Successful calls, and calls that failed because a server or the database was unavailable. */
  answered: number;
  refused: number;
  /** Makes no new calls and resolves when all pending ones have ended. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  /** Average time between two calls of one user at one server. */
  pauseMs: number;
}

const CALL_MS = 30_000;
let questions = 0;

export function beginLoad(world: FleetWorld, { pauseMs }: LoadOptions): Load {
  let stopped = false;
  const isRunning = (): boolean => !stopped;
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
    while (isRunning()) {
      try {
        client ??= await connectHttp(url, "modern", token);
        const answer = await makeCall(world, client, own);
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

async function makeCall(world: FleetWorld, client: HttpClient, own: string[]): Promise<ToolResult> {
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
  if (chance < 0.4) return cancelRun(world, client, some);
  if (chance < 0.5) return call("list_research", {}, within);
  return call("check_research_status", { task_id: some }, within);
}

async function cancelRun({ user }: FleetWorld, { call }: HttpClient, taskId: string): Promise<ToolResult> {
  const answer = Promise.withResolvers<ToolResult>();
  await user.cancelling({ taskId, query: undefined }, async () => {
    answer.resolve(await call("cancel_research", { task_id: taskId }, { timeout: CALL_MS }));
    return !(await answer.promise).isError;
  });
  return answer.promise;
}

/** Records the returned task id: such a run may not be lost. */
export async function startRun(world: FleetWorld, { call }: HttpClient, topic: string): Promise<ToolResult> {
  const query = `Question ${(questions += 1)} about ${topic}`;
  world.user.ask(query);
  const answer = await call("start_deep_research", { query }, { timeout: CALL_MS });
  // A rejected start has no task id.
  const { task_id: taskId, success, joined } = answer.structured ?? {};
  if (typeof taskId !== "string") return answer;
  world.returned.add(taskId);
  if (success === true && joined !== true) world.accepted.add(taskId);
  return answer;
}
