/** Derives facts about a client from the recorded messages. */

import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

export interface Passed {
  from: "client" | "server";
  line: string;
}

const META_VERSION = "io.modelcontextprotocol/protocolVersion";

const message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z
    .looseObject({
      name: z.string().optional(),
      requestId: z.union([z.string(), z.number()]).optional(),
      _meta: z.looseObject({ progressToken: z.unknown().optional() }).optional(),
    })
    .optional(),
  result: z
    .looseObject({
      protocolVersion: z.string().optional(),
      instructions: z.string().optional(),
      tools: z.array(z.looseObject({ name: z.string() })).optional(),
      content: z.array(z.looseObject({ text: z.string().default("") })).optional(),
      structuredContent: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});

interface ToolAnswer {
  tool: string;
  text: string;
  structured: Record<string, unknown>;
}

export interface WireFacts {
  protocol: string;
  calls: number;
  callsWithToken: number;
  progress: number;
  cancelled: number;
  /** Cancellations after the response. */
  cancelledLate: number;
  instructions: string;
  /** Names of our announced tools. */
  listed: string[];
  /** Results of tool calls, in order. */
  answers: ToolAnswer[];
}

const passedLine = z.object({ from: z.enum(["client", "server"]), line: z.string() });

export function readWire(file: string): Passed[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => passedLine.parse(JSON.parse(line)));
}

function parsed(line: string): z.infer<typeof message> {
  try {
    return message.parse(JSON.parse(line));
  } catch {
    return {};
  }
}

/** Handles the client's processes one after the other, because each numbers its requests from the start. */
export function wireFacts(passed: readonly Passed[]): WireFacts {
  const facts: WireFacts = {
    protocol: "none",
    calls: 0,
    callsWithToken: 0,
    progress: 0,
    cancelled: 0,
    cancelledLate: 0,
    instructions: "",
    listed: [],
    answers: [],
  };
  const open = new Map<unknown, string>();
  for (const { from, line } of passed) {
    const read = parsed(line);
    if (from === "client") readClientMessage(facts, open, read);
    else readServerMessage(facts, open, read);
  }
  return facts;
}

type WireState = z.infer<typeof message>;

function readClientMessage(facts: WireFacts, open: Map<unknown, string>, { id, method, params }: WireState): void {
  const version = params?._meta?.[META_VERSION];
  if (typeof version === "string") facts.protocol = version;
  if (method === "tools/call") {
    facts.calls += 1;
    if (params?._meta?.progressToken !== undefined) facts.callsWithToken += 1;
    open.set(id, params?.name ?? "");
  }
  if (method === "notifications/cancelled") facts[open.has(params?.requestId) ? "cancelled" : "cancelledLate"] += 1;
}

function readServerMessage(facts: WireFacts, open: Map<unknown, string>, { id, method, result }: WireState): void {
  if (method === "notifications/progress") facts.progress += 1;
  if (result?.protocolVersion !== undefined) facts.protocol = result.protocolVersion;
  if (result?.instructions !== undefined) facts.instructions = result.instructions;
  if (result?.tools !== undefined) facts.listed = result.tools.map(({ name }) => name);
  const tool = open.get(id);
  if (tool === undefined || result?.content === undefined) return;
  open.delete(id);
  const text = result.content.map((part) => part.text).join("\n");
  facts.answers.push({ tool, text, structured: result.structuredContent ?? {} });
}
