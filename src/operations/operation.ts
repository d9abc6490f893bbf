/** What an operation is. Each one becomes an MCP tool and a command; neither knows of the other. */

import { z } from "zod";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Estimate } from "../costs/estimate.ts";
import type { Agent } from "../gemini/agent.ts";
import type { ResearchDeps } from "../runs/research.ts";
import type { Run } from "../runs/run.ts";
import type { Runner } from "../runs/runner.ts";
import type { RunRecorder } from "../runs/track.ts";
import type { SearchDeps } from "../search/correct-json.ts";
import type { Database } from "../store/database.ts";

export interface OperationDeps {
  clock: Clock;
  log: Log;
  database: () => Promise<Database>;
  recorder: () => Promise<RunRecorder>;
  /** Everything a search needs but the question. */
  search: (log: Log) => Promise<SearchDeps>;
  /** Following and starting paid background runs. */
  research: () => Promise<ResearchParts>;
  /** The agent where it could be told to stop; undefined without a key. */
  agent: () => Promise<Agent | undefined>;
  findRun: (owner: string, taskId: string) => Promise<Run>;
  estimate: (query: string, agent: string, owner: string) => Promise<Estimate | undefined>;
  /** Where a report was saved that the database refused. */
  backupOf: (taskId: string) => string | undefined;
  /** Work that goes on after its call was answered, and that the process ends in order. */
  inBackground: (work: Promise<unknown>) => void;
  /** Aborted when the process begins to leave. */
  leaving: AbortSignal;
  settings: {
    maxRounds: number;
    legacyPrompt: string | undefined;
    syncWindowMs: number;
    reportsDir: string | undefined;
  };
}

export interface ResearchParts {
  research: ResearchDeps;
  runner: Runner;
  /** False when a paid run could be forgotten: then none is started. */
  durable: boolean;
}

/** One call of an operation, as a door hands it on. */
export interface Call {
  /** Whose runs these are. */
  owner: string;
  /** The program that asks, as it named itself. */
  client: string | undefined;
  signal: AbortSignal;
  progress: (message: string) => void;
}

/** MCP's four hints, all explicit: what is left out would be taken for the worst case. */
interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface Operation<Input extends z.ZodObject = z.ZodObject, Output = unknown> {
  name: string;
  title: string;
  /** What it is for, when to use it and when not, cost and duration, what comes back: a model chooses by it. */
  description: string;
  input: Input;
  output: z.ZodObject;
  annotations: Annotations;
  /** The input that a command takes without a flag. */
  positional: string | undefined;
  /** It asks a search backend, so a command may choose backend and model. */
  asksBackend?: boolean;
  /** It answers while a run goes on: a command offers this flag to stay until the run ends. */
  waitFlag?: "wait" | "watch";
  run: (deps: OperationDeps, input: z.output<Input>, call: Call) => Promise<Output>;
  /** The same information as the output, for people and for clients that show text only. */
  toText: (output: Output) => string;
}

/** Checks that the parts of a definition fit together, then lets the catalogue treat all alike. */
export function defineOperation<Input extends z.ZodObject, Output>(operation: Operation<Input, Output>): Operation {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- perform() parses with this very input schema first
  return operation as unknown as Operation;
}

const MOST_QUERY_CHARACTERS = 10_000;

export const queryText = (what: string) =>
  z
    .string({ error: `${what} must be a text.` })
    .trim()
    .min(3, { error: `${what} must have at least 3 characters.` })
    .max(MOST_QUERY_CHARACTERS, { error: `${what} must have at most 10,000 characters.` });

export const taskId = z
  .uuid({ error: "task_id must be the UUID that a tool returned." })
  .describe("The task_id that a tool returned.");

/** Fields of the one error shape; every output schema has them, because clients check errors against it too. */
const errorFields = {
  error: z
    .looseObject({
      code: z.string().describe("Machine-readable code."),
      message: z.string().describe("What happened."),
      suggestion: z.string().optional().describe("What to do about it."),
      details: z.looseObject({}).optional(),
    })
    .optional()
    .describe("Present when success is false."),
  task_id: z.string().optional().describe("The run, for list_research and get_research_results."),
  status: z.string().optional().describe("State of the run."),
  progress: z.number().optional().describe("0 to 100."),
};

/** An output schema: `success` is always there, anything else only when it applies. */
export function outputSchema(fields: Record<string, z.ZodType>): z.ZodObject {
  const optional = Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, type.optional()]));
  return z.looseObject({ success: z.boolean(), ...errorFields, ...optional });
}
