/** A receiver of webhooks on loopback: records what it is sent, and answers as a test says. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../sites/listen.ts";

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
}

/** The status, and the body where it matters; undefined: no answer, as if the receiver hangs. */
type Answer = (received: Received) => { status: number; body?: string; location?: string } | undefined;

export interface WebhookReceiver {
  url: string;
  port: number;
  received: Received[];
  /** Changes how it answers. */
  answer(next: Answer): void;
  handle(request: IncomingMessage, response: ServerResponse): void;
}

export async function openReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  let answer: Answer = () => ({ status: 200 });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const entry = { path: request.url ?? "", headers: request.headers, text: Buffer.concat(chunks).toString("utf8") };
      received.push(entry);
      const given = answer(entry);
      if (given === undefined) return;
      const { status, body = "", location } = given;
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    });
  };
  const port = await listen(createServer(handle));
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    answer: (next) => void (answer = next),
    handle,
  };
}
