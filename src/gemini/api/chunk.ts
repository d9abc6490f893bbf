/** Schema of a chunk of a generateContent stream; the SDK's types are not checked at run time. */

import { z } from "zod";

const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item.optional().catch(undefined))
    .catch([])
    .default([])
    .transform((items) => items.filter((value) => value !== undefined));

const text = z.string().optional().catch(undefined);

/** Parts without text are function calls, `toolCall` records of Google's own tools, or a bare `thoughtSignature`. */
const part = z.object({ text, thought: z.boolean().optional().catch(undefined) });

/** Without gaps the indices of `groundingSupports` would lead to other chunks, so unreadable ones stay as undefined. */
const groundingChunks = z
  .array(
    z
      .object({ web: z.object({ uri: z.string(), title: text }) })
      .optional()
      .catch(undefined),
  )
  .catch([])
  .default([]);

const groundingSupport = z.object({
  segment: z.object({ text: z.string() }),
  groundingChunkIndices: list(z.number().int().nonnegative()),
});

const groundingMetadata = z.object({
  webSearchQueries: list(z.string()),
  groundingChunks,
  groundingSupports: list(groundingSupport),
  searchEntryPoint: z.object({ renderedContent: text }).optional().catch(undefined),
});

const candidate = z.object({
  content: z
    .object({ parts: list(part) })
    .optional()
    .catch(undefined),
  finishReason: text,
  groundingMetadata: groundingMetadata.optional().catch(undefined),
  urlContextMetadata: z
    .object({ urlMetadata: list(z.object({ retrievedUrl: z.string(), urlRetrievalStatus: text })) })
    .optional()
    .catch(undefined),
});

export const responseChunk = z.object({
  candidates: list(candidate),
  promptFeedback: z.object({ blockReason: text }).optional().catch(undefined),
  usageMetadata: z.record(z.string(), z.unknown()).optional().catch(undefined),
  modelVersion: z.unknown().optional(),
});

export type ResponseCandidate = z.infer<typeof responseChunk>["candidates"][number];
