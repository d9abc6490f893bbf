/** A stand-in for Google that answers thousands of polls per second and records their times. */

import { createServer, type ServerResponse } from "node:http";
import { DEFAULT_AGENT } from "../../src/gemini/research-agent.ts";
import { interactionAt } from "../../simulator/interactions/resource.ts";
import { parseLife } from "../../simulator/interactions/scenario.ts";
import { QUERY } from "../questions.ts";
import { type Behaviour, RUN_PREFIX } from "./google-process.ts";

const MAX_RUNS = 1_000_000;
const CREATED = new Date().toISOString();

let behaviour: Behaviour = { latencyMs: 100, changedShare: 0.3, hungShare: 0, ended: false };
let runs: number[] = [];
let times: number[] = [];
/** How often a run has changed; part of the response, so that an old response can be recognised. */
const changes = new Uint32Array(MAX_RUNS);

const head = { object: "interaction", created: CREATED, updated: CREATED, agent: DEFAULT_AGENT };

function workingAnswer(run: number): string {
  if (Math.random() < behaviour.changedShare) changes[run] = (changes[run] ?? 0) + 1;
  const text = `Reading page ${changes[run]}`;
  const steps = [{ type: "thought", summary: [{ type: "text", text }] }];
  return JSON.stringify({ id: RUN_PREFIX + run, status: "in_progress", ...head, steps });
}

/** With a report of the simulator's length, generated once because generating takes longer than sending. */
function createEndedAnswer(): (run: number) => string {
  const start = {
    id: "ID",
    query: QUERY,
    agent: DEFAULT_AGENT,
    labels: {},
    key: "",
    at: Date.now(),
    answered: "delivered",
  } as const;
  const life = parseLife({ duration_ms: 0, usage_after_ms: 0 });
  const ended = { start, life, thinks: false, draws: false, skipped: 0, cancelledAt: undefined };
  const { id: _, ...rest } = interactionAt(ended, 1, { withInput: true });
  const tail = JSON.stringify(rest).slice(1);
  return (run) => `{"id":"${RUN_PREFIX}${run}",${tail}`;
}

const endedAnswer = createEndedAnswer();

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const server = createServer((request, response) => {
  if (request.method === "POST") {
    request.resume().on("end", () => send(response, workingAnswer(0)));
    return;
  }
  const run = Number(/bench-(\d+)/.exec(request.url ?? "")?.[1]);
  runs.push(run);
  times.push(Date.now());
  // Counts as a poll, but gets no response.
  if (Math.random() < behaviour.hungShare) return;
  setTimeout(() => send(response, behaviour.ended ? endedAnswer(run) : workingAnswer(run)), behaviour.latencyMs);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.({ url: `http://127.0.0.1:${address.port}` });
});

process.on("message", (message: Behaviour | "polls") => {
  if (message === "polls") {
    process.send?.({ runs: Uint32Array.from(runs), times: Float64Array.from(times) });
    runs = [];
    times = [];
  } else behaviour = message;
});
process.on("disconnect", () => process.exit());
