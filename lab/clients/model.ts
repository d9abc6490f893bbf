/** The scripted model that clients talk to: follows the script and records what it receives. */

import { setTimeout as sleep } from "node:timers/promises";
import { json } from "node:stream/consumers";
import { type Loopback, serveLoopback } from "./loopback.ts";
import { type Exchange, type ModelApi, type OfferedTool, type Reply, sendJson, type Turn } from "./model-api.ts";

export interface Step {
  reply: Reply;
  /** Delay before the reply. */
  after_ms?: number;
}

export type Script = (turn: Turn) => Step | undefined;

export interface Model extends Loopback {
  /** Our tools as last offered. */
  offered(): OfferedTool[];
  /** The longest conversation, with our results as the model received them. */
  exchanges(): Exchange[];
  /** Whether the model had to request our tools. */
  searched(): boolean;
  /** What the model received before its first call: one request, or two if it had to request our tools. */
  opening(): string[];
}

export async function startModel(api: ModelApi, script: Script): Promise<Model> {
  let offered: OfferedTool[] = [];
  let exchanges: Exchange[] = [];
  let searched = false;
  const opening: string[] = [];
  const loopback = await serveLoopback(async (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const body = request.method === "POST" ? await json(request).catch(() => ({})) : {};
    const turn = request.method === "POST" ? api.read(path, body) : undefined;
    if (turn === undefined) {
      const aside = Object.entries(api.aside).find(([end]) => path.endsWith(end));
      return sendJson(response, aside === undefined ? 404 : 200, aside?.[1] ?? { error: { message: "not here" } });
    }
    // Clients also request titles and summaries, without our tools.
    const step = script(turn);
    if (step === undefined) return api.reply(response, { text: "Lab" }, { path, body });
    if (step.reply === turn.load) searched = true;
    offered = turn.tools;
    if (turn.exchanges.length === 0) opening.push(JSON.stringify(body));
    if (turn.exchanges.length >= exchanges.length) exchanges = turn.exchanges;
    await sleep(step.after_ms ?? 0);
    return api.reply(response, step.reply, { path, body });
  });
  return {
    ...loopback,
    offered: () => offered,
    exchanges: () => exchanges,
    searched: () => searched,
    opening: () => opening,
  };
}
