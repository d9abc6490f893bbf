/** The model-independent view of a conversation: offered tools, calls so far, and one reply. */

import type { ServerResponse } from "node:http";

export interface OfferedTool {
  /** The name that the client shows to its model. */
  name: string;
  parameters: unknown;
}

export interface Exchange {
  tool: string;
  /** The result as the model receives it. */
  output: string;
}

export interface Turn {
  tools: OfferedTool[];
  /** Requests tools that the client offers only on demand; once is enough. */
  load?: Reply;
  exchanges: Exchange[];
}

export type Reply = { text: string } | { tool: OfferedTool; input: Record<string, unknown> };

/** A client's tool for finding tools. */
export const TOOL_SEARCH = /^tool_?search$/i;

export interface ModelApi {
  /** Undefined for requests that are not a conversation turn, such as token counting. */
  read(path: string, body: unknown): Turn | undefined;
  reply(response: ServerResponse, reply: Reply, asked: { path: string; body: unknown }): void;
  /** Responses to other requests, by the end of the path; anything else is 404. */
  aside: Record<string, unknown>;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Sends server-sent events in one response. */
export function sendEvents(response: ServerResponse, events: readonly { event?: string; data: unknown }[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const { event, data } of events) {
    const name = event === undefined ? "" : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}
