/** Gemini on loopback: the part of Google that demo, tests and benches talk to instead of Google. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { CONTROL_ROUTES } from "./control-routes.ts";
import { errorReply } from "./google-errors.ts";
import { INTERACTION_ROUTES } from "./interactions/routes.ts";
import { openRuns } from "./interactions/runs.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { MODEL_ROUTES } from "./models/model-routes.ts";
import { resolveScenario } from "./presets.ts";
import type { Call, Route, Stage } from "./route.ts";
import { playScenario, type ScenarioInput } from "./scenario.ts";

interface SimulatorOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** The name of a preset, or a scenario as data; `good` by default. */
  scenario?: ScenarioInput | string;
  /** Where interactions are remembered, so that another simulator can go on with them. */
  stateFile?: string | undefined;
}

export interface Simulator {
  readonly url: string;
  readonly ledger: Ledger;
  /** Starts the scenario from its first step; the ledger goes on. */
  setScenario(scenario: ScenarioInput | string): void;
  /** Lets this many real milliseconds go by at once for all interactions. */
  skip(ms: number): void;
  /** Ends every open connection, hanging ones included. */
  close(): Promise<void>;
}

const ROUTES: readonly Route[] = [...CONTROL_ROUTES, ...MODEL_ROUTES, ...INTERACTION_ROUTES];

const HOST = "127.0.0.1";

// Longer than any pause between two calls of a client, which would otherwise meet a closed connection.
const KEEP_ALIVE_MS = 120_000;

// Made once: every request ends with it, and an error of its own costs more than the answer.
const GONE = new Error("The connection is closed.");

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function notFound({ method, url, body, response }: Call, { ledger }: Stage): void {
  const facts = { method, path: url.pathname, bytes: body.length };
  const { status, headers, frames } = errorReply("route-unknown");
  ledger.record({ ...facts, served: "route-unknown", status, outcome: "completed" });
  response.writeHead(status, headers).end(frames.join(""));
}

async function dispatch(call: Call, stage: Stage): Promise<void> {
  for (const route of ROUTES) {
    const match = route.method === call.method ? route.path.exec(call.url.pathname) : null;
    if (match !== null) return route.handle(call, stage, match);
  }
  return notFound(call, stage);
}

async function serve(request: IncomingMessage, response: ServerResponse, stage: Stage): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort(GONE));
  try {
    const body = await readBody(request);
    const { method = "GET", headers } = request;
    const url = new URL(request.url ?? "/", `http://${HOST}`);
    await dispatch({ method, url, headers, body, response, signal: gone.signal }, stage);
  } catch (error) {
    // A client that leaves ends every wait; anything else is a bug of the simulator.
    if (gone.signal.aborted || request.destroyed) return;
    process.stderr.write(`Gemini simulator: ${String(error)}\n`);
    response.destroy();
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  let play = playScenario(resolveScenario(options.scenario ?? "good"));
  const ledger = createLedger();
  const runs = openRuns({ stateFile: options.stateFile, ledger });
  const stage: Stage = {
    ledger,
    runs,
    play: () => play,
    setScenario(scenario) {
      play = playScenario(resolveScenario(scenario));
    },
  };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void serve(request, response, stage);
  });
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://${HOST}:${port}`,
    ledger,
    setScenario: stage.setScenario,
    skip: runs.skip,
    async close() {
      await closeServer(server);
      runs.close();
    },
  };
}
