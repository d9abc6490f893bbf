/** Parses requests to start an interaction, and rejects those that Google would reject. */

import { z } from "zod";
import { refusalReply, type GoogleError } from "../google-errors.ts";
import type { RunFacts, Runs } from "./runs.ts";
import { statusAt } from "./resource.ts";
import type { Attachment } from "../ledger.ts";
import type { Reply } from "../models/wire.ts";
import { attachmentsIn, partsIn, refusalOfMaterial, toolSchema } from "./input/material.ts";

const AGENTS = ["deep-research-preview-04-2026", "deep-research-max-preview-04-2026"];

/** Agents shut down on 2026-10-23. */
const RETIRED = ["deep-research-pro-preview-12-2025"];

const text = z.looseObject({ type: z.string().optional(), text: z.string().optional() });

const step = z.looseObject({ content: z.array(text).optional(), text: z.string().optional() });

const createRequest = z.looseObject({
  agent: z.string().optional(),
  input: z.union([z.string(), step, z.array(step)]),
  background: z.boolean().default(false),
  store: z.boolean().default(true),
  stream: z.boolean().default(false),
  agent_config: z
    .looseObject({ type: z.literal("deep-research"), thinking_summaries: z.enum(["auto", "none"]).optional() })
    .optional(),
  tools: z.array(toolSchema).default([]),
  labels: z
    .record(
      z.string().regex(/^\p{Ll}[\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u),
      z.string().regex(/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u),
    )
    .default({}),
  previous_interaction_id: z.string().optional(),
});

type CreateRequest = z.output<typeof createRequest>;

export type ReadCreate =
  | {
      kind: "start";
      facts: Omit<RunFacts, "key" | "life">;
      stream: boolean;
      tools: string[];
      attachments: Attachment[];
    }
  | { kind: "refused"; name: string; reply: Reply };

function refused(name: string, error: GoogleError): ReadCreate {
  return { kind: "refused", name, reply: refusalReply(error) };
}

const invalid = (name: string, message: string): ReadCreate =>
  refused(name, { code: 400, message, status: "INVALID_ARGUMENT" });

const missing = (name: string, message: string): ReadCreate =>
  refused(name, { code: 404, message, status: "NOT_FOUND" });

function queryOf({ input }: CreateRequest): string {
  if (typeof input === "string") return input;
  const steps = Array.isArray(input) ? input : [input];
  return steps.flatMap((item) => [item, ...(item.content ?? [])].flatMap((part) => part.text ?? [])).join("\n\n");
}

function refusalOfAgent({ agent }: CreateRequest): ReadCreate | undefined {
  if (agent === undefined) return invalid("agent-missing", "The simulator only knows interactions with an agent.");
  if (RETIRED.includes(agent)) return missing("agent-retired", `Agent ${agent} has been shut down.`);
  return AGENTS.includes(agent) ? undefined : missing("agent-unknown", `Agent ${agent} is not found.`);
}

function refusalFor(request: CreateRequest, runs: Runs): ReadCreate | undefined {
  const byAgent = refusalOfAgent(request);
  if (byAgent !== undefined) return byAgent;
  if (!request.background) return invalid("background-missing", "Agent interactions require background=true.");
  if (!request.store) return invalid("store-missing", "background=true requires store=true.");
  if (request.tools.some(({ type }) => type === "function")) {
    return invalid("tool-unsupported", "Deep Research does not support function tools.");
  }
  const { previous_interaction_id: previousId } = request;
  if (previousId === undefined) return undefined;
  const previous = runs.find(previousId);
  if (previous === undefined) return missing("previous-unknown", "Requested entity was not found.");
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

export function readCreate(body: Buffer, runs: Runs): ReadCreate {
  const request = parse(body);
  if (request === undefined) return invalid("body-invalid", "Invalid JSON payload received.");
  const refusal = refusalFor(request, runs);
  if (refusal !== undefined) return refusal;
  const material = refusalOfMaterial(request);
  if (material !== undefined) return refused(material.name, material.error);
  const query = queryOf(request);
  if (query.trim() === "") return invalid("input-missing", "Input must not be empty.");
  const { agent = "", labels, stream, agent_config: config } = request;
  const tools = request.tools.map(({ type }) => type);
  const attachments = attachmentsIn(request.input);
  const parts = partsIn(request.input);
  const facts = {
    query,
    agent,
    labels,
    thinks: config?.thinking_summaries === "auto",
    ...(parts.length > 0 && { attached: parts }),
  };
  return { kind: "start", facts, stream, tools, attachments };
}
