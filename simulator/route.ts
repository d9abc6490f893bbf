/** What a part of the simulated API needs to serve a request; each part is a list of routes. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runs } from "./interactions/runs.ts";
import type { Ledger } from "./ledger.ts";
import type { Play, ScenarioInput } from "./scenario.ts";

/** What all requests to one simulator share. */
export interface Stage {
  readonly ledger: Ledger;
  readonly runs: Runs;
  play(): Play;
  setScenario(scenario: ScenarioInput | string): void;
}

export interface Call {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: Buffer;
  response: ServerResponse;
  /** Aborted as soon as the connection is gone, whoever closed it. */
  signal: AbortSignal;
}

export interface Route {
  method: "GET" | "POST" | "DELETE";
  path: RegExp;
  handle(call: Call, stage: Stage, match: RegExpExecArray): Promise<void> | void;
}
