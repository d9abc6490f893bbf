/** The type of a conformance fixture: a tool that the official suite calls by its name. */

import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";

export interface FixtureCall {
  input: Record<string, unknown>;
  /** The user's responses so far. */
  answers: Record<string, unknown> | undefined;
  /** Capabilities of the client. */
  capabilities: ClientCapabilities;
  signal: AbortSignal;
  progress: (message: string) => void;
  context: ServerContext;
}

export type FixtureAnswer = CallToolResult | InputRequiredResult;

export interface Fixture {
  tool: Tool;
  /** Calls become tasks if the client supports them; "required": other clients cannot call the tool. */
  task?: "optional" | "required";
  /** Requests input before the call becomes a task. */
  before?: (call: FixtureCall) => InputRequiredResult | undefined;
  run: (call: FixtureCall) => FixtureAnswer | Promise<FixtureAnswer>;
}

export const textResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A tool without parameters, or with the given ones. */
export const named = (name: string, description: string, properties: Record<string, { type: string }> = {}): Tool => ({
  name,
  description,
  inputSchema: { type: "object", properties },
});

export const failedWith = (error: unknown): CallToolResult => ({
  ...textResult(error instanceof Error ? error.message : String(error)),
  isError: true,
});
