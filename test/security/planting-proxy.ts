/** A proxy in front of the simulated Google that inserts text into every response, wherever Google sends text. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Stage } from "./trial.ts";

/** Changes a text of a response; `name` is its field. */
export type Plant = (text: string, name: string) => string;

const WORDS = new Set(["text", "title", "message", "queries", "webSearchQueries", "summary", "modelVersion", "reason"]);

/** Returns the URL of the proxy. */
export async function plantIn({ onTestFinished }: Stage, target: string, plant: Plant): Promise<string> {
  const server = createServer((request, response) => {
    forward(request, response, { target, plant }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { target, plant }: { target: string; plant: Plant },
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { method = "GET" } = request;
  const body = await buffer(request);
  const reply = await fetch(new URL(request.url ?? "/", target), {
    method,
    headers: { "x-goog-api-key": String(request.headers["x-goog-api-key"]), "content-type": "application/json" },
    signal: gone.signal,
    redirect: "manual",
    ...(method === "GET" ? {} : { body }),
  });
  const type = reply.headers.get("content-type") ?? "";
  response.writeHead(reply.status, { "content-type": type });
  if (!type.includes("event-stream")) {
    response.end(planted(await reply.text(), plant));
    return;
  }
  let rest = "";
  for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    response.write(lines.map((line) => `${plantedLine(line, plant)}\n`).join(""));
  }
  response.end(rest);
}

const plantedLine = (line: string, plant: Plant): string =>
  line.startsWith("data: ") ? `data: ${planted(line.slice(6), plant)}` : line;

/** Returns text that is not JSON unchanged. */
function planted(json: string, plant: Plant): string {
  try {
    return JSON.stringify(rewritten(JSON.parse(json), "", plant));
  } catch {
    return json;
  }
}

function rewritten(value: unknown, name: string, plant: Plant): unknown {
  if (typeof value === "string") return WORDS.has(name) ? plantedText(value, name, plant) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => rewritten(item, name, plant));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewritten(item, key, plant)]));
}

/** In an answer to our prompts, text is inserted inside the JSON; outside it would only break the JSON. */
function plantedText(text: string, name: string, plant: Plant): string {
  const isOurs = /```json|"report":|"metadata":|^[\s}\]`"]*$/.test(text);
  if (name !== "text" || !isOurs) return plant(text, name);
  const words = JSON.stringify(plant("", "report")).slice(1, -1);
  return text.replace(/("report":\s*")/, (all) => `${all}${words} `);
}
