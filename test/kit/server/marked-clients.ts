/** HTTP clients that use the same request ids but mark their queries, so that a mixed-up response is detected. */

import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { Era } from "./server.ts";

const CLIENT = { name: "marked", version: "1.0.0" };
const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

export interface MarkedClient {
  era: Era;
  /** Contained in every query of this client and of no other. */
  marker: string;
  /** Runs of this client; responses may contain no other. */
  taskIds: string[];
  /** Request ids are 1, 2, 3 … for every client. */
  ask(tool: string, input: Record<string, unknown>): Promise<Answer>;
}

export interface Answer {
  id: number;
  text: string;
  tookMs: number;
}

export interface MarkedClientOptions {
  url: string;
  /** Omitted for a server without authentication. */
  token?: string;
  era: Era;
}

const newMarker = (): string => `marker-${randomBytes(6).toString("hex")}`;

export async function openMarkedClient({ url, token, era }: MarkedClientOptions): Promise<MarkedClient> {
  const common = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const post = (message: object, headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: { ...common, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const session = era === "legacy" ? await greet(post) : {};
  let lastId = 0;
  return {
    era,
    marker: newMarker(),
    taskIds: [],
    ask: async (name, input) => {
      const id = (lastId += 1);
      const _meta = { ...(era === "modern" ? MODERN_META : {}), progressToken: id };
      const headers =
        era === "modern"
          ? { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name }
          : { "mcp-protocol-version": LEGACY, ...session };
      const begun = performance.now();
      const response = await post({ id, method: "tools/call", params: { name, arguments: input, _meta } }, headers);
      const text = await response.text();
      return { id, text, tookMs: performance.now() - begun };
    },
  };
}

/** Returns no session header if the server does not use sessions. */
async function greet(post: (message: object, headers: Record<string, string>) => Promise<Response>) {
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT };
  const response = await post({ id: 0, method: "initialize", params }, {});
  await response.text();
  const id = response.headers.get("mcp-session-id");
  const session: Record<string, string> = id === null ? {} : { "mcp-session-id": id };
  const noted = await post({ method: "notifications/initialized" }, { ...session, "mcp-protocol-version": LEGACY });
  await noted.text();
  return session;
}

/** Makes a search, whose run the client may read from then on. Returns a mismatch in the response, if any. */
export async function searchMarked(client: MarkedClient): Promise<string | undefined> {
  const answer = await client.ask("search", { query: `How do heat pumps perform? ${client.marker}` });
  const [taskId] = answer.text.match(UUID) ?? [];
  if (taskId !== undefined) client.taskIds.push(taskId);
  return wrongWith(client, answer, client.marker);
}

/** Makes the n-th of the free calls: reads of stored runs, and invalid calls whose error contains the marker. */
export async function callMarked(client: MarkedClient, n: number): Promise<{ answer: Answer; wrong?: string }> {
  const task_id = client.taskIds[n % client.taskIds.length] ?? "";
  const calls: [string, Record<string, unknown>, string][] = [
    ["list_research", {}, client.marker],
    ["check_research_status", { task_id }, task_id],
    ["get_research_results", { task_id }, client.marker],
    ["check_research_status", { task_id, [client.marker]: n }, client.marker],
    [`no-such-${client.marker}`, {}, client.marker],
  ];
  const [tool, input, sign] = calls[n % calls.length] ?? ["list_research", {}, client.marker];
  const answer = await client.ask(tool, input);
  const wrong = wrongWith(client, answer, sign);
  return { answer, ...(wrong === undefined ? {} : { wrong }) };
}

const MARKER = /marker-[0-9a-f]{12}/g;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const message = z.looseObject({
  id: z.number().nullish(),
  params: z.looseObject({ progressToken: z.number().optional() }).optional(),
});

/** Describes how the response shows that it belongs to another client or another request. */
export function wrongWith(client: MarkedClient, { id, text }: Answer, sign: string): string | undefined {
  const other = (text.match(MARKER) ?? []).find((marker) => marker !== client.marker);
  if (other !== undefined) return `${client.marker} received ${other}`;
  const run = (text.match(UUID) ?? []).find((one) => !client.taskIds.includes(one));
  if (run !== undefined) return `${client.marker} received the run ${run}`;
  const numbers = messagesIn(text).map((one) => one.id ?? one.params?.progressToken);
  if (numbers.length === 0 || numbers.some((number) => number !== id)) {
    return `${client.marker} sent request ${id} and received responses to ${numbers.join(", ")}: ${text.slice(0, 200)}`;
  }
  return text.includes(sign) ? undefined : `${client.marker} did not receive ${sign}: ${text.slice(0, 200)}`;
}

/** Parses one JSON message or the data of a stream. */
function messagesIn(text: string): z.output<typeof message>[] {
  const lines = text.startsWith("{") ? [text] : text.split("\n").flatMap((line) => /^data: (.+)/.exec(line)?.[1] ?? []);
  return lines.map((line) => message.parse(JSON.parse(line)));
}
