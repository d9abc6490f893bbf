/** What a conformance fixture is: a tool under the name that the official suite calls, as small as the suite allows. */

import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";

export interface FixtureCall {
  input: Record<string, unknown>;
  /** What the user has answered so far. */
  answers: Record<string, unknown> | undefined;
  /** What this client can do. */
  capabilities: ClientCapabilities;
  signal: AbortSignal;
  progress: (message: string) => void;
  context: ServerContext;
}

export type FixtureAnswer = CallToolResult | InputRequiredResult;

export interface Fixture {
  tool: Tool;
  /** Its calls become tasks where the client knows tasks; "required": no other client can call it. */
  task?: "optional" | "required";
  /** Asked before a task is made of the call. */
  before?: (call: FixtureCall) => InputRequiredResult | undefined;
  run: (call: FixtureCall) => FixtureAnswer | Promise<FixtureAnswer>;
}

export const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A tool without parameters, or with the given ones. */
export const named = (name: string, description: string, properties: Record<string, { type: string }> = {}): Tool => ({
  name,
  description,
  inputSchema: { type: "object", properties },
});

export const failedWith = (error: unknown): CallToolResult => ({
  ...said(error instanceof Error ? error.message : String(error)),
  isError: true,
});
