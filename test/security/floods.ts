/** Endless output of a child or of Google, compressed or not: memory stays bounded, and the next call works (T16). */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { StandinScenario } from "../../simulator/gemini-cli/standin-cli.ts";
import { openCliScene } from "../kit/simulator/cli-scene.ts";
import { peakMemory } from "../kit/server/processes.ts";
import { openScene } from "../kit/server/scene.ts";
import { openVerdict, type Stage, type Verdict } from "./trial.ts";

const MEGABYTE = 1_024 * 1_024;
const TEN_GIGABYTES = 10 * 1_024 * MEGABYTE;
/** The limit of T16. */
const MAX_MEMORY_MB = 300;
const QUERY = "A question with a flood as its answer";

export const ENDLESS_CHILDREN: readonly StandinScenario[] = [
  { printBytes: TEN_GIGABYTES, forkMs: 600_000 },
  { printBytes: TEN_GIGABYTES },
  { printBytes: TEN_GIGABYTES, ignoreSigterm: true },
];

export async function tryEndlessChildren(stage: Stage, behaviours: readonly StandinScenario[]): Promise<Verdict> {
  const verdict = openVerdict();
  const scene = openCliScene(stage);
  for (const behaviour of behaviours) {
    const server = await scene.server({ era: "legacy", isMeasured: true });
    scene.script(behaviour);
    const { structured } = await server.call("search", { query: QUERY });
    const message = String(structured["error"]?.message);
    verdict.check(`${JSON.stringify(behaviour)}: ${message}`, message.includes("more than 32 MB"));
    scene.script({});
    const next = await server.call("search", { query: QUERY });
    verdict.check(`the next call: ${next.text}`, next.structured["success"] === true);
    verdict.check(`${peakMemory(server.pid)} MB`, peakMemory(server.pid) < MAX_MEMORY_MB);
  }
  await scene.expectNothingLeft();
  return verdict;
}

type Flood = (response: ServerResponse) => void;

/** Sends the same bytes until the receiver disconnects. */
function sendEndlessly(response: ServerResponse, piece: Buffer): void {
  let poured = 0;
  const more = (): void => {
    while (poured < TEN_GIGABYTES && !response.destroyed) {
      poured += piece.length;
      if (!response.write(piece)) {
        response.once("drain", more);
        return;
      }
    }
    response.end();
  };
  more();
}

const SPACES = Buffer.alloc(MEGABYTE, " ");
/** 16 MB compressed to 16 KB; a sequence of such gzip members is one valid stream. */
const BOMB = gzipSync(Buffer.alloc(16 * MEGABYTE, " "));
const text = (words: string) => JSON.stringify({ candidates: [{ content: { parts: [{ text: words }] } }] });
const EVENT = Buffer.from(`data: ${text("words ".repeat(20_000))}\r\n\r\n`);

const as = (type: string, more: Record<string, string> = {}) => ({ "content-type": type, ...more });
const STREAM = "text/event-stream";
const PACKED = { "content-encoding": "gzip" };

const FLOODS: Record<string, Flood> = {
  "a stream without a line end": (response) => sendEndlessly(response.writeHead(200, as(STREAM)), SPACES),
  "a stream of events without end": (response) => sendEndlessly(response.writeHead(200, as(STREAM)), EVENT),
  "a packed stream": (response) => sendEndlessly(response.writeHead(200, as(STREAM, PACKED)), BOMB),
  "a packed refusal": (response) => sendEndlessly(response.writeHead(400, as("application/json", PACKED)), BOMB),
  "a refusal without end": (response) => sendEndlessly(response.writeHead(500, as("text/html")), SPACES),
};

export async function tryFloodsFromUpstream(stage: Stage): Promise<Verdict> {
  const verdict = openVerdict();
  const scene = await openScene(stage);
  let flood: Flood = (response) => response.destroy();
  const upstream = createServer((request, response) => {
    response.on("error", () => undefined);
    request.resume().once("end", () => flood(response));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  stage.onTestFinished(() => {
    upstream.close();
    upstream.closeAllConnections();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a listening TCP server has no other kind of address
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const env = { GOOGLE_GEMINI_BASE_URL: url, JSON_MAX_RETRIES: "1", RESEARCH_SYNC_WINDOW_MS: "0" };
  for (const [what, next] of Object.entries(FLOODS)) {
    flood = next;
    const server = await scene.server({ env, isMeasured: true });
    const searched = await server.call("search", { query: `${QUERY}: ${what}` });
    verdict.check(`${what}: ${searched.text.slice(0, 300)}`, searched.isError);
    const started = await server.call("start_deep_research", { query: `${QUERY}: ${what}`, force_new: true });
    verdict.check(`start, ${what}: ${started.text.slice(0, 300)}`, started.isError);
    const listed = await server.call("list_research", { limit: 1 });
    verdict.check(`the next call: ${listed.text.slice(0, 300)}`, listed.structured["success"] === true);
    verdict.check(`${what}: ${peakMemory(server.pid)} MB`, peakMemory(server.pid) < MAX_MEMORY_MB);
  }
  return verdict;
}
