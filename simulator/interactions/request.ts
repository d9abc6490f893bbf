/** Parses requests to start an interaction, and rejects those that Google would reject. */

import { z } from "zod";
import { errorNamed, type GoogleError } from "../google-errors.ts";
import type { RunFacts, Runs } from "./runs.ts";
import type { Attachment } from "../ledger.ts";
import { endOf, statusAt } from "./resource.ts";
import { outputSteps, textLength } from "./steps.ts";
import { attachmentsIn, partsIn, refusalOfMaterial, toolSchema } from "./input/material.ts";
import { refusalOfFormat, responseFormat, schemaIn } from "./input/response-format.ts";

const AGENTS = ["deep-research-preview-04-2026", "deep-research-max-preview-04-2026"];

/** Agents shut down on 2026-10-23. */
const RETIRED = ["deep-research-pro-preview-12-2025"];

/** Models that continue an interaction. */
const MODELS = ["gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-4-argon", "gemini-4-carbon"];

const text = z.looseObject({ type: z.string().optional(), text: z.string().optional() });

const step = z.looseObject({ content: z.array(text).optional(), text: z.string().optional() });

const createRequest = z.looseObject({
  agent: z.string().optional(),
  model: z.string().optional(),
  generation_config: z.looseObject({ thinking_summaries: z.enum(["auto", "none"]).optional() }).optional(),
  input: z.union([z.string(), step, z.array(step)]),
  background: z.boolean().default(false),
  store: z.boolean().default(true),
  stream: z.boolean().default(false),
  agent_config: z
    .looseObject({
      type: z.literal("deep-research"),
      thinking_summaries: z.enum(["auto", "none"]).optional(),
      visualization: z.enum(["auto", "off"]).optional(),
      collaborative_planning: z.boolean().optional(),
    })
    .optional(),
  tools: z.array(toolSchema).default([]),
  labels: z
    .record(
      z.string().regex(/^\p{Ll}[\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u),
      z.string().regex(/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u),
    )
    .default({}),
  webhook_config: z.looseObject({ uris: z.array(z.url()) }).default({ uris: [] }),
  previous_interaction_id: z.string().optional(),
  response_format: responseFormat,
});

type CreateRequest = z.output<typeof createRequest>;

export type ReadCreate =
  | {
      kind: "start";
      facts: Omit<RunFacts, "key" | "life">;
      stream: boolean;
      tools: string[];
      attachments: Attachment[];
      /** Where the end is announced. */
      uris: string[];
    }
  | { kind: "refused"; name: string; error: GoogleError };

const refused = (name: string, error: GoogleError): ReadCreate => ({ kind: "refused", name, error });

const PERMISSION_DENIED: GoogleError = {
  code: 403,
  message: "The caller does not have permission",
  status: "PERMISSION_DENIED",
};

const invalid = (name: string, message: string): ReadCreate =>
  refused(name, { code: 400, message, status: "INVALID_ARGUMENT" });

const missing = (name: string, message: string, word?: string): ReadCreate =>
  refused(name, { code: 404, message, status: "NOT_FOUND", ...(word !== undefined && { word }) });

function queryOf({ input }: CreateRequest): string {
  if (typeof input === "string") return input;
  const steps = Array.isArray(input) ? input : [input];
  return steps.flatMap((item) => [item, ...(item.content ?? [])].flatMap((part) => part.text ?? [])).join("\n\n");
}

function refusalOfModel({ agent, model }: CreateRequest): ReadCreate | undefined {
  if (agent !== undefined) return invalid("agent-and-model", "Only one of agent and model can be set.");
  return MODELS.includes(model ?? "")
    ? undefined
    : missing("model-unknown", `Model ${model} is not found.`, "model_not_found");
}

function refusalOfAgent({ agent }: CreateRequest): ReadCreate | undefined {
  if (agent === undefined) return invalid("agent-missing", "The simulator only knows interactions with an agent.");
  if (RETIRED.includes(agent)) return missing("agent-retired", `Agent ${agent} has been shut down.`);
  return AGENTS.includes(agent) ? undefined : missing("agent-unknown", `Agent ${agent} is not found.`);
}

/** The stored interactions as the sender of a request may use them. */
export interface StoredInteractions {
  runs: Runs;
  /** Fingerprint of the key. */
  key: string;
  /** No earlier interaction can be continued any more, as after the end of Google's retention. */
  forgotten: boolean;
  labelsRefused: boolean;
  webhooksRefused: boolean;
}

function refusalFor(request: CreateRequest, stored: StoredInteractions): ReadCreate | undefined {
  const byAgent = request.model === undefined ? refusalOfAgent(request) : refusalOfModel(request);
  if (byAgent !== undefined) return byAgent;
  if (stored.labelsRefused && Object.keys(request.labels).length > 0) {
    return refused("labels", errorNamed("labels-refused"));
  }
  if (stored.webhooksRefused && request.webhook_config.uris.length > 0) {
    return invalid("webhooks", "Webhooks are not supported for this agent.");
  }
  if (!request.background) return invalid("background-missing", "Agent interactions require background=true.");
  if (!request.store) return invalid("store-missing", "background=true requires store=true.");
  if (request.tools.some(({ type }) => type === "function")) {
    return invalid("tool-unsupported", "Deep Research does not support function tools.");
  }
  const { previous_interaction_id: previousId } = request;
  if (previousId === undefined) return undefined;
  const { runs, key, forgotten } = stored;
  const previous = forgotten ? undefined : runs.find(previousId);
  if (previous === undefined) return missing("previous-unknown", "Requested entity was not found.");
  if (previous.start.key !== key) return refused("foreign-key", PERMISSION_DENIED);
  return statusAt(previous, runs.elapsed(previous)) === "in_progress"
    ? invalid("previous-in-progress", "The previous interaction is still in progress.")
    : undefined;
}

function parse(body: Buffer): CreateRequest | undefined {
  try {
    return createRequest.parse(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

export function readCreate(body: Buffer, stored: StoredInteractions): ReadCreate {
  const request = parse(body);
  if (request === undefined) return invalid("body-invalid", "Invalid JSON payload received.");
  const refusal = refusalFor(request, stored);
  if (refusal !== undefined) return refusal;
  const { response_format: format } = request;
  const unusable = refusalOfMaterial(request) ?? refusalOfFormat(format, { isAgent: request.model === undefined });
  if (unusable !== undefined) return refused(unusable.name, unusable.error);
  const query = queryOf(request);
  if (query.trim() === "") return invalid("input-missing", "Input must not be empty.");
  const { model, agent = model ?? "", labels, stream, previous_interaction_id: previous } = request;
  const config = model === undefined ? request.agent_config : request.generation_config;
  const thinks = config?.thinking_summaries === "auto";
  const continued = {
    ...(model !== undefined && { model }),
    ...(previous !== undefined && { previous, context: contextLength(stored.runs, previous) }),
  };
  const plan = model === undefined ? planTurn(request, query, stored.runs) : undefined;
  const tools = request.tools.map(({ type }) => type);
  const attachments = attachmentsIn(request.input);
  const parts = partsIn(request.input);
  const schema = schemaIn(format);
  // Google applies tools to one turn: a model without them answers from its input.
  const isOffline = model !== undefined && tools.length === 0;
  const more = {
    ...(parts.length > 0 && { attached: parts }),
    ...(schema && { schema }),
    ...(isOffline && { offline: true }),
  };
  // Google draws by default, and only for an agent.
  const draws = model === undefined && request.agent_config?.visualization !== "off";
  const facts = { query, agent, labels, thinks, draws, ...continued, ...(plan && { plan }), ...more };
  return { kind: "start", facts, stream, tools, attachments, uris: request.webhook_config.uris };
}

/** Characters of the conversation that an interaction continues. */
function contextLength(runs: Runs, id: string): number {
  const run = runs.find(id);
  const end = run && endOf(run);
  if (run === undefined || end === undefined) return 0;
  const { query, context = 0 } = run.start;
  return context + query.length + textLength(outputSteps(run, end));
}

/**
 * A turn after a plan plans again unless `collaborative_planning` is explicitly false: "go ahead" alone starts nothing.
 */
function planTurn(request: CreateRequest, query: string, runs: Runs): RunFacts["plan"] {
  const { previous_interaction_id: previousId, agent_config: config } = request;
  const before = previousId === undefined ? undefined : runs.find(previousId)?.start.plan;
  const asksForPlan = config?.collaborative_planning;
  if (before === undefined || before.isApproved) {
    return asksForPlan === true ? { topic: query, changes: [], isApproved: false } : undefined;
  }
  const isApproved = asksForPlan === false;
  return { topic: before.topic, changes: [...before.changes, ...(isApproved ? [] : [query])], isApproved };
}
