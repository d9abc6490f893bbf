/** What the script knows of a model's work, whatever the API: tools on offer, calls made so far, one reply. */

import type { ServerResponse } from "node:http";

export interface OfferedTool {
  /** As the client shows it to its model. */
  name: string;
  parameters: unknown;
}

export interface Exchange {
  tool: string;
  /** The result as the model gets to read it. */
  output: string;
}

export interface Turn {
  tools: OfferedTool[];
  /** Asks the client for tools that it keeps back until its model wants them; once is enough. */
  load?: Reply;
  exchanges: Exchange[];
}

export type Reply = { text: string } | { tool: OfferedTool; input: Record<string, unknown> };

/** A tool that looks for tools. */
export const LOOKS_FOR_TOOLS = /^tool_?search$/i;

export interface ModelApi {
  /** Undefined for what is no turn of a conversation, such as counting tokens. */
  read(path: string, body: unknown): Turn | undefined;
  reply(response: ServerResponse, reply: Reply, asked: { path: string; body: unknown }): void;
  /** Answers to what is no turn, by the end of the path; anything else is 404. */
  aside: Record<string, unknown>;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Server-sent events, all at once. */
export function sendEvents(response: ServerResponse, events: readonly { event?: string; data: unknown }[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const { event, data } of events) {
    const name = event === undefined ? "" : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}
