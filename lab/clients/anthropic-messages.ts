/** Anthropic's Messages API, as far as a scripted model needs it. */

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { TOOL_SEARCH, type ModelApi, type Reply, sendEvents, sendJson } from "./model-api.ts";

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const block = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  name: z.string().optional(),
  tool_use_id: z.string().optional(),
  content: z.union([z.string(), z.array(part)]).optional(),
});
const request = z.looseObject({
  stream: z.boolean().default(false),
  messages: z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(block)]) })),
  tools: z.array(z.looseObject({ name: z.string(), input_schema: z.unknown().optional() })).default([]),
});

const textOf = (content: z.infer<typeof block>["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n");

const contentOf = (reply: Reply): Record<string, unknown> =>
  "text" in reply
    ? { type: "text", text: reply.text }
    : { type: "tool_use", id: `toolu_${randomUUID().slice(0, 12)}`, name: reply.tool.name, input: reply.input };

/** Claude Code only lists the names of server tools, in a message; selected tools are sent with the next turn. */
function loadOf({ tools, messages }: z.infer<typeof request>): Reply | undefined {
  const loader = tools.find(({ name }) => TOOL_SEARCH.test(name));
  const names = [...new Set(JSON.stringify(messages).match(/mcp__[\w-]+/g))];
  if (loader === undefined || names.length === 0) return undefined;
  const tool = { name: loader.name, parameters: loader.input_schema };
  return { tool, input: { query: `select:${names.join(",")}`, max_results: names.length } };
}

export const anthropicMessages: ModelApi = {
  aside: { "/count_tokens": { input_tokens: 1_000 } },
  read(path, body) {
    if (!path.endsWith("/messages")) return undefined;
    const asked = request.parse(body);
    const { messages, tools } = asked;
    const load = loadOf(asked);
    const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    const names = new Map(blocks.flatMap(({ type, id, name }) => (type === "tool_use" ? [[id, name] as const] : [])));
    return {
      tools: tools.map(({ name, input_schema }) => ({ name, parameters: input_schema })),
      exchanges: blocks
        .filter(({ type }) => type === "tool_result")
        .map(({ tool_use_id, content }) => ({ tool: names.get(tool_use_id) ?? "", output: textOf(content) }))
        .filter(({ tool }) => !TOOL_SEARCH.test(tool)),
      ...(load !== undefined && { load }),
    };
  },
  reply(response, reply, { body }) {
    const content = contentOf(reply);
    const stop_reason = "text" in reply ? "end_turn" : "tool_use";
    const usage = { input_tokens: 1_000, output_tokens: 50 };
    const message = { id: "msg_lab", type: "message", role: "assistant", model: "lab", stop_sequence: null, usage };
    if (!request.parse(body).stream) {
      return sendJson(response, 200, { ...message, content: [content], stop_reason });
    }
    const [empty, delta] =
      "text" in reply
        ? [
            { type: "text", text: "" },
            { type: "text_delta", text: reply.text },
          ]
        : [
            { ...content, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(reply.input) },
          ];
    const events = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: empty },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    return sendEvents(
      response,
      events.map((data) => ({ event: data.type, data })),
    );
  },
};
