/** Types of the simulated API's routes and of their shared context. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runs } from "./interactions/runs.ts";
import type { Ledger } from "./ledger.ts";
import type { ScenarioPlayer, ScenarioInput } from "./scenario.ts";

/** State shared by all requests to one simulator. */
export interface SimulatorContext {
  readonly ledger: Ledger;
  readonly runs: Runs;
  player(): ScenarioPlayer;
  setScenario(scenario: ScenarioInput | string): void;
}

export interface Call {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: Buffer;
  response: ServerResponse;
  /** Aborted when the connection is closed by either side. */
  signal: AbortSignal;
}

export interface Route {
  method: "GET" | "POST" | "DELETE";
  path: RegExp;
  handle(call: Call, context: SimulatorContext, match: RegExpExecArray): Promise<void> | void;
}
