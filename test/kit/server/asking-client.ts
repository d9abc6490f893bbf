/** The official client with support for elicitation: the test answers its dialogs. */

import { Client, type ClientCapabilities, type ElicitRequest, type ElicitResult } from "@modelcontextprotocol/client";
import type { TestContext } from "vitest";
import type { Scene } from "./scene.ts";
import { BIN, type Era, NODE_ARGUMENTS, OneProcessTransport, type ToolResult } from "./server.ts";

interface Dialog {
  message: string;
  schema: unknown;
}

export interface AskingClient {
  /** The dialogs shown so far. */
  dialogs: Dialog[];
  call: (
    input: object,
    options?: { tool?: string; signal?: AbortSignal; onProgress?: () => void },
  ) => Promise<ToolResult>;
}

type Answer = (signal: AbortSignal) => ElicitResult | Promise<ElicitResult>;

export interface AskingOptions {
  era: Era;
  answer: ElicitResult | Answer;
  elicitation?: ClientCapabilities["elicitation"];
  env?: Record<string, string>;
}

export async function askingClient(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  scene: Scene,
  { era, answer, elicitation = { form: {} }, env }: AskingOptions,
): Promise<AskingClient> {
  const dialogs: Dialog[] = [];
  const client = new Client(
    { name: "asking-client", version: "1.0.0" },
    {
      capabilities: { elicitation },
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }: ElicitRequest, { mcpReq }) => {
    dialogs.push({ message: params.message, schema: "requestedSchema" in params ? params.requestedSchema : undefined });
    return typeof answer === "function" ? answer(mcpReq.signal) : answer;
  });
  await client.connect(
    new OneProcessTransport({
      command: process.execPath,
      args: [...NODE_ARGUMENTS, BIN],
      env: { ...scene.env, ...env },
      stderr: "ignore",
    }),
  );
  onTestFinished(() => client.close());
  return {
    dialogs,
    call: async (input, { tool = "start_deep_research", signal, onProgress } = {}) => {
      const result = await client.callTool(
        { name: tool, arguments: { ...input } },
        {
          timeout: 60_000,
          ...(signal === undefined ? {} : { signal }),
          ...(onProgress === undefined ? {} : { onprogress: onProgress }),
        },
      );
      const [content] = result.content;
      return {
        isError: result.isError === true,
        structured: result.structuredContent as ToolResult["structured"],
        text: content?.type === "text" ? content.text : "",
      };
    },
  };
}
