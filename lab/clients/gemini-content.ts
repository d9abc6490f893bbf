/** Gemini's generateContent and streamGenerateContent, as far as a scripted model needs them. */

import { z } from "zod";
import { type ModelApi, sendEvents, sendJson } from "./model-api.ts";

const part = z.looseObject({
  functionResponse: z.looseObject({ name: z.string(), response: z.record(z.string(), z.unknown()) }).optional(),
});
const declaration = z.looseObject({
  name: z.string(),
  parameters: z.unknown().optional(),
  parametersJsonSchema: z.unknown().optional(),
});
const request = z.looseObject({
  contents: z.array(z.looseObject({ parts: z.array(part).default([]) })),
  tools: z.array(z.looseObject({ functionDeclarations: z.array(declaration).default([]) })).default([]),
});

const textOf = (response: Record<string, unknown>): string =>
  typeof response["output"] === "string" ? response["output"] : JSON.stringify(response);

export const geminiContent: ModelApi = {
  aside: { ":countTokens": { totalTokens: 1_000 } },
  read(path, body) {
    if (!/:(?:streamG|g)enerateContent$/.test(path)) return undefined;
    const { contents, tools } = request.parse(body);
    return {
      tools: tools
        .flatMap(({ functionDeclarations }) => functionDeclarations)
        .map(({ name, parameters, parametersJsonSchema }) => ({
          name,
          parameters: parametersJsonSchema ?? parameters,
        })),
      exchanges: contents
        .flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []))
        .map(({ name, response }) => ({ tool: name, output: textOf(response) })),
    };
  },
  reply(response, reply, { path }) {
    const part =
      "text" in reply ? { text: reply.text } : { functionCall: { name: reply.tool.name, args: reply.input } };
    const content = { role: "model", parts: [part] };
    const answer = {
      candidates: [{ index: 0, content, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 50, totalTokenCount: 1_050 },
      modelVersion: "lab",
    };
    if (path.endsWith(":generateContent")) sendJson(response, 200, answer);
    else sendEvents(response, [{ data: answer }]);
  },
};
