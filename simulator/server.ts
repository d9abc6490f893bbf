/** HTTP server that simulates Gemini on loopback, for the demo, tests and benchmarks. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { CONTROL_ROUTES } from "./control-routes.ts";
import { errorReply } from "./google-errors.ts";
import { INTERACTION_ROUTES } from "./interactions/routes.ts";
import { interactionAt } from "./interactions/resource.ts";
import { openRuns } from "./interactions/runs.ts";
import { WEBHOOK_ROUTES } from "./interactions/webhooks.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { DECISION_ROUTES } from "./models/decisions.ts";
import { MODEL_ROUTES } from "./models/model-routes.ts";
import { resolveScenario } from "./presets.ts";
import type { Call, Route, SimulatorContext } from "./route.ts";
import { createScenarioPlayer, type ScenarioInput } from "./scenario.ts";

interface SimulatorOptions {
  /** Default 0: a free port. */
  port?: number;
  /** The name of a preset, or a scenario as data; default `good`. */
  scenario?: ScenarioInput | string;
  /** Stores interactions, so that another simulator process can continue with them. */
  stateFile?: string | undefined;
}

export interface Simulator {
  readonly url: string;
  readonly ledger: Ledger;
  /** An interaction as a poll would show it now, without one; undefined if it is unknown. */
  interaction(id: string): object | undefined;
  /** Starts a scenario at its first step; the ledger is kept. */
  setScenario(scenario: ScenarioInput | string): void;
  /** Advances the clock of all interactions by real milliseconds. */
  skip(ms: number): void;
  /** Closes all connections, including hanging ones. */
  close(): Promise<void>;
}

const ROUTES: readonly Route[] = [
  ...CONTROL_ROUTES,
  ...MODEL_ROUTES,
  ...DECISION_ROUTES,
  ...INTERACTION_ROUTES,
  ...WEBHOOK_ROUTES,
];

const HOST = "127.0.0.1";

// Longer than any pause between two requests of a client, which would otherwise use a closed connection.
const KEEP_ALIVE_MS = 120_000;

// Created once: every request ends with it, and creating an error costs more than the response.
const CLOSED = new Error("The connection is closed.");

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function notFound({ method, url, body, response }: Call, { ledger }: SimulatorContext): void {
  const facts = { method, path: url.pathname, bytes: body.length };
  const { status, headers, frames } = errorReply("route-unknown");
  ledger.record({ ...facts, served: "route-unknown", status, outcome: "completed" });
  response.writeHead(status, headers).end(frames.join(""));
}

async function dispatch(call: Call, context: SimulatorContext): Promise<void> {
  for (const route of ROUTES) {
    const match = route.method === call.method ? route.path.exec(call.url.pathname) : null;
    if (match !== null) return route.handle(call, context, match);
  }
  return notFound(call, context);
}

async function serve(request: IncomingMessage, response: ServerResponse, context: SimulatorContext): Promise<void> {
  const closed = new AbortController();
  response.once("close", () => closed.abort(CLOSED));
  try {
    const body = await readBody(request);
    const { method = "GET", headers } = request;
    const url = new URL(request.url ?? "/", `http://${HOST}`);
    await dispatch({ method, url, headers, body, response, signal: closed.signal }, context);
  } catch (error) {
    // A disconnected client aborts every wait; any other error is a bug in the simulator.
    if (closed.signal.aborted || request.destroyed) return;
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
  let player = createScenarioPlayer(resolveScenario(options.scenario ?? "good"));
  const ledger = createLedger();
  const runs = openRuns({ stateFile: options.stateFile, ledger });
  const context: SimulatorContext = {
    ledger,
    runs,
    player: () => player,
    setScenario(scenario) {
      player = createScenarioPlayer(resolveScenario(scenario));
    },
  };
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void serve(request, response, context);
  });
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://${HOST}:${port}`,
    ledger,
    interaction: (id) => {
      const run = runs.find(id);
      return run && interactionAt(run, runs.elapsed(run), { withInput: false });
    },
    setScenario: context.setScenario,
    skip: runs.skip,
    async close() {
      await closeServer(server);
      runs.close();
    },
  };
}
