/** Schema of generateContent requests, and readers for their tools, texts and tool results. */

import { z } from "zod";

const part = z.looseObject({
  text: z.string().optional(),
  functionCall: z.looseObject({ id: z.string().optional(), name: z.string() }).optional(),
  functionResponse: z
    .looseObject({
      id: z.string().optional(),
      name: z.string(),
      response: z.looseObject({ output: z.unknown().optional(), error: z.unknown().optional() }).optional(),
    })
    .optional(),
});

const content = z.looseObject({ role: z.string().optional(), parts: z.array(part).default([]) });

const tool = z.looseObject({
  functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional(),
});

export const generateContentRequest = z.looseObject({
  contents: z.array(content).min(1),
  systemInstruction: content.optional(),
  tools: z.array(tool).default([]),
  generationConfig: z
    .looseObject({
      responseSchema: z.unknown().optional(),
      responseJsonSchema: z.unknown().optional(),
      thinkingConfig: z.looseObject({ includeThoughts: z.boolean().optional() }).optional(),
    })
    .default({}),
});

export type GenerateContentRequest = z.output<typeof generateContentRequest>;
export type RequestContent = z.output<typeof content>;

/** Names of built-in tools and declared functions. */
export function toolNames(request: GenerateContentRequest): string[] {
  return request.tools.flatMap((declared) => [
    ...Object.keys(declared).filter((name) => name !== "functionDeclarations"),
    ...(declared.functionDeclarations ?? []).map((declaration) => declaration.name),
  ]);
}

export function textOf(message: RequestContent): string {
  return message.parts.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n\n");
}

export interface ToolResult {
  id: string | undefined;
  name: string;
  output: string;
}

export function toolResultsIn(contents: readonly RequestContent[]): ToolResult[] {
  return contents.flatMap((message) =>
    message.parts.flatMap(({ functionResponse }) => {
      if (functionResponse === undefined) return [];
      const { id, name, response } = functionResponse;
      const output = response?.output ?? response?.error ?? "";
      return [{ id, name, output: typeof output === "string" ? output : JSON.stringify(output) }];
    }),
  );
}
