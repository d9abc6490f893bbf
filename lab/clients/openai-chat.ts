/** OpenAI's Chat Completions API, as far as a scripted model needs it. */

import { randomUUID } from "node:crypto";
import { z } from "zod";
import { type ModelApi, type Reply, sendEvents, sendJson } from "./model-api.ts";

const content = z.union([z.string(), z.array(z.looseObject({ text: z.string().default("") }))]).nullish();
const message = z.looseObject({
  role: z.string(),
  content,
  tool_call_id: z.string().optional(),
  tool_calls: z.array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string() }) })).default([]),
});
const request = z.looseObject({
  stream: z.boolean().default(false),
  messages: z.array(message),
  tools: z
    .array(z.looseObject({ function: z.looseObject({ name: z.string(), parameters: z.unknown().optional() }) }))
    .default([]),
});

const textOf = (value: z.infer<typeof content>): string =>
  typeof value === "string" ? value : (value ?? []).map(({ text }) => text).join("\n");

function messageOf(reply: Reply): Record<string, unknown> {
  if ("text" in reply) return { role: "assistant", content: reply.text };
  const called = { name: reply.tool.name, arguments: JSON.stringify(reply.input) };
  const call = { index: 0, id: `call_${randomUUID().slice(0, 12)}`, type: "function", function: called };
  return { role: "assistant", content: null, tool_calls: [call] };
}

export const openaiChat: ModelApi = {
  aside: {},
  read(path, body) {
    if (!path.endsWith("/chat/completions")) return undefined;
    const { messages, tools } = request.parse(body);
    const names = new Map(
      messages.flatMap(({ tool_calls }) => tool_calls.map((call) => [call.id, call.function.name])),
    );
    return {
      tools: tools.map((tool) => ({ name: tool.function.name, parameters: tool.function.parameters })),
      exchanges: messages
        .filter(({ role }) => role === "tool")
        .map(({ tool_call_id = "", content: output }) => ({
          tool: names.get(tool_call_id) ?? "",
          output: textOf(output),
        })),
    };
  },
  reply(response, reply, { body }) {
    const finish_reason = "text" in reply ? "stop" : "tool_calls";
    const common = { id: "chatcmpl-lab", created: 0, model: "lab" };
    const usage = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 };
    if (!request.parse(body).stream) {
      const choices = [{ index: 0, message: messageOf(reply), finish_reason }];
      return sendJson(response, 200, { ...common, object: "chat.completion", choices, usage });
    }
    const chunk = { ...common, object: "chat.completion.chunk" };
    return sendEvents(response, [
      { data: { ...chunk, choices: [{ index: 0, delta: messageOf(reply), finish_reason: null }] } },
      { data: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage } },
      { data: "[DONE]" },
    ]);
  },
};
