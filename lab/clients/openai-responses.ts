/** OpenAI's Responses API, as far as a scripted model needs it. */

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { TOOL_SEARCH, type ModelApi, type OfferedTool, sendEvents } from "./model-api.ts";

const part = z.looseObject({ text: z.string().default("") });
const plainTool = z.looseObject({ name: z.string().optional(), parameters: z.unknown().optional() });
/** A namespace contains the tools of one server, which are called by name and namespace. */
const offer = plainTool.extend({ type: z.string(), tools: z.array(plainTool).optional() });
const item = z.looseObject({
  type: z.string().optional(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  output: z.union([z.string(), z.array(part)]).optional(),
  /** The result of a tool search. */
  tools: z.array(offer).default([]),
});
const request = z.looseObject({
  input: z.union([z.string(), z.array(item)]),
  tools: z.array(offer).default([]),
});

const SEPARATOR = "/";

function toolsOf(offered: readonly z.infer<typeof offer>[]): OfferedTool[] {
  return offered.flatMap(({ type, name = type, parameters, tools }) =>
    tools === undefined
      ? [{ name, parameters }]
      : tools.map((tool) => ({ name: `${name}${SEPARATOR}${tool.name}`, parameters: tool.parameters })),
  );
}

function callItem({ name }: OfferedTool, input: Record<string, unknown>): Record<string, unknown> {
  const [namespace, inner] = name.split(SEPARATOR);
  const call_id = `call_${randomUUID().slice(0, 12)}`;
  if (TOOL_SEARCH.test(name)) return { type: "tool_search_call", call_id, execution: "client", arguments: input };
  const call = { type: "function_call", call_id, arguments: JSON.stringify(input) };
  return inner === undefined ? { ...call, name } : { ...call, namespace, name: inner };
}

export const openaiResponses: ModelApi = {
  aside: {},
  read(path, body) {
    if (!path.endsWith("/responses")) return undefined;
    const { input, tools } = request.parse(body);
    const items = typeof input === "string" ? [] : input;
    const names = new Map(items.map(({ type, call_id, name }) => [type === "function_call" ? call_id : "", name]));
    const loader = toolsOf(tools).find(({ name }) => TOOL_SEARCH.test(name));
    return {
      tools: toolsOf([...tools, ...items.flatMap((one) => one.tools)]),
      ...(loader !== undefined && { load: { tool: loader, input: { query: "research", limit: 50 } } }),
      exchanges: items
        .filter(({ type }) => type === "function_call_output")
        .map(({ call_id, output = "" }) => ({
          tool: names.get(call_id) ?? "",
          output: typeof output === "string" ? output : output.map(({ text }) => text).join("\n"),
        })),
    };
  },
  reply(response, reply) {
    const output =
      "text" in reply
        ? { type: "message", id: "msg_lab", role: "assistant", content: [{ type: "output_text", text: reply.text }] }
        : callItem(reply.tool, reply.input);
    const usage = { input_tokens: 1_000, output_tokens: 50, total_tokens: 1_050 };
    const events = [
      { type: "response.created", response: { id: "resp_lab" } },
      { type: "response.output_item.done", output_index: 0, item: output },
      { type: "response.completed", response: { id: "resp_lab", usage } },
    ];
    sendEvents(
      response,
      events.map((data) => ({ event: data.type, data })),
    );
  },
};
