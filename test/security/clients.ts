/** Many concurrent clients with the same request ids on one HTTP server: each receives only its own messages (T14). */

import type { HttpServerOptions, RunningHttpServer } from "../kit/server/http-server.ts";
import { openHttpScene } from "../kit/server/http-server.ts";
import { envelope } from "../kit/server/tasks.ts";
import type { Stage, Verdict } from "./trial.ts";

const JSON_RPC = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const MARKS = /marker-[a-z]+-\d+-end/g;

export interface Crowd {
  clients: number;
  /** Calls per client. */
  calls: number;
  options?: Omit<HttpServerOptions, "configDir">;
}

interface Message {
  id?: number;
  result?: { content?: { text: string }[]; structuredContent?: { metadata?: { task_id?: string } } };
  params?: { progressToken?: number };
}

interface Client {
  mark: string;
  send(id: number, method: string, params: object): Promise<{ messages: Message[]; text: string }>;
}

export async function tryCrowd(stage: Stage, { clients, calls, options = {} }: Crowd): Promise<Verdict> {
  const scene = await openHttpScene(stage, "good");
  const server = await scene.http({ ...options, env: { MCP_RATE_LIMIT_PER_MINUTE: "0", ...options.env } });
  const broken: string[] = [];
  let tried = 0;
  const lives = Array.from({ length: clients }, async (_, number) => {
    const client = await openClient(server, number);
    for (let id = 1; id <= calls; id += 2) {
      const [asked, own] = await askAndRead(client, id);
      tried += 2;
      broken.push(...judge(client, id, asked), ...judge(client, id + 1, own));
    }
  });
  await Promise.all(lives);
  return { tried, broken };
}

/** Makes a search and reads its result: both contain the client's mark. */
async function askAndRead({ mark, send }: Client, id: number) {
  const call = (name: string, input: object) => ({ name, arguments: input, _meta: { progressToken: 1 } });
  const asked = await send(id, "tools/call", call("search", { query: `What is ${mark} about?` }));
  const task_id = asked.messages.find((message) => message.id === id)?.result?.structuredContent?.metadata?.task_id;
  const own = await send(id + 1, "tools/call", call("get_research_results", { task_id }));
  return [asked, own] as const;
}

function judge({ mark }: Client, id: number, { messages, text }: Awaited<ReturnType<Client["send"]>>): string[] {
  const answers = messages.filter((message) => message.id !== undefined);
  const marks = new Set(text.match(MARKS));
  return [
    ...(answers.length === 1 && answers[0]?.id === id ? [] : [`${mark}: ${answers.length} answers to ${id}`]),
    ...(marks.has(mark) ? [] : [`${mark}: not in its own answer ${text.slice(0, 300)}`]),
    ...(marks.size <= 1 ? [] : [`${mark}: others in its answer: ${[...marks].join(" ")}`]),
  ];
}

/** One third use a session, one third single requests of the legacy era, and one third the modern protocol. */
async function openClient(server: RunningHttpServer, number: number): Promise<Client> {
  const kind = (["session", "single", "modern"] as const)[number % 3] ?? "single";
  const mark = `marker-${kind}-${number}-end`;
  const headers: Record<string, string> = { ...JSON_RPC };
  const post = async (message: object) => {
    const response = await server.request("/mcp", { method: "POST", headers, body: JSON.stringify(message) });
    return { response, text: await response.text() };
  };
  if (kind === "session") {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: mark, version: "1" } };
    const { response } = await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    headers["mcp-session-id"] = response.headers.get("mcp-session-id") ?? "";
    await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  }
  const modern = kind === "modern" ? envelope({}) : {};
  return {
    mark,
    send: async (id, method, params) => {
      if (kind === "modern") {
        const name = "name" in params ? String(params.name) : "";
        Object.assign(headers, { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name });
      }
      const _meta = { ...modern, ...("_meta" in params ? (params._meta as object) : {}) };
      const { text } = await post({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
      return { messages: messagesIn(text), text };
    },
  };
}

const messagesIn = (text: string): Message[] =>
  text.trimStart().startsWith("{")
    ? [JSON.parse(text)]
    : text
        .split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)));
