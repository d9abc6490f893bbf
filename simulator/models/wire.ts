/** Encodes a model's turn like Google: one JSON document, or a stream of server-sent events. */

import { randomUUID } from "node:crypto";
import { chargeUsd } from "../prices.ts";
import type { ModelTurn } from "./generate-content.ts";
import type { GenerateContentRequest } from "./request.ts";
import type { Step } from "../scenario.ts";

/** An HTTP response; `frames` are the chunks of its body. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  frames: string[];
}

type Part =
  | { text: string; thought?: true; thoughtSignature?: string }
  | { toolCall: { toolType: string; id: string; args: unknown } }
  | { functionCall: ModelTurn["calls"][number]; thoughtSignature?: string };

const CHARACTERS_PER_TOKEN = 4;

const CHUNK = /[\s\S]{1,400}/gu;

const THOUGHT = "**Weighing the task**\n\nI look for sources before I answer.";

const SIGNATURE = Buffer.from("simulated thought").toString("base64");

const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

/** Fetched pages count as input, thoughts as output. */
export function chargeOf({ request, turn, model }: Pick<WireInput, "request" | "turn" | "model">): number {
  const counts = usageOf(request, turn);
  const searches = turn.groundingMetadata?.webSearchQueries?.length ?? 0;
  return chargeUsd(model, {
    input: counts.promptTokenCount + (counts.toolUsePromptTokenCount ?? 0),
    cached: 0,
    output: counts.candidatesTokenCount + counts.thoughtsTokenCount,
    searches,
  });
}

interface UsageCounts extends Record<string, unknown> {
  promptTokenCount: number;
  candidatesTokenCount: number;
  thoughtsTokenCount: number;
  toolUsePromptTokenCount?: number;
}

function usageOf(request: GenerateContentRequest, turn: ModelTurn): UsageCounts {
  const { contents, systemInstruction, tools } = request;
  const prompt = tokens(JSON.stringify({ contents, systemInstruction, tools }).length);
  const calls = turn.calls.length > 0 ? JSON.stringify(turn.calls) : "";
  const output = tokens(turn.text.length + calls.length);
  const thoughts = tokens(THOUGHT.length);
  // Search results are counted by their grounding metadata, because the pages do not exist.
  const found = turn.groundingMetadata;
  const toolUse = found === undefined ? 0 : tokens(JSON.stringify(found).length);
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output,
    thoughtsTokenCount: thoughts,
    ...(toolUse > 0 && { toolUsePromptTokenCount: toolUse }),
    totalTokenCount: prompt + output + thoughts + toolUse,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
  };
}

function callParts(turn: ModelTurn): Part[] {
  return turn.calls.map((functionCall, index) => ({
    functionCall,
    // Gemini signs the first of several parallel calls.
    ...(index === 0 && { thoughtSignature: SIGNATURE }),
  }));
}

/** Thoughts are sent even if not requested; calls of Google's own tools are `toolCall` parts. */
function openingParts({ turn }: WireInput): Part[] {
  if (turn.text === "" && turn.calls.length === 0) return [];
  const queries = turn.groundingMetadata?.webSearchQueries ?? [];
  const search = { toolType: "GOOGLE_SEARCH_WEB", id: "search-1", args: { queries } };
  return [{ text: THOUGHT, thought: true }, ...(queries.length > 0 ? [{ toolCall: search }] : [])];
}

/** The last part of an answer contains the signature, often without text. */
const SIGNATURE_PART: Part = { text: "", thoughtSignature: SIGNATURE };

interface WireInput {
  request: GenerateContentRequest;
  turn: ModelTurn;
  model: string;
  step: Pick<Step, "block" | "breaks" | "usage">;
}

function candidateEnd({ turn, step }: WireInput): Record<string, unknown> {
  const { finishReason, groundingMetadata, urlContextMetadata } = turn;
  return {
    ...(step.breaks === undefined && { finishReason }),
    ...(groundingMetadata !== undefined && { groundingMetadata }),
    ...(urlContextMetadata !== undefined && { urlContextMetadata }),
  };
}

function documents(input: WireInput, groups: Part[][]): string[] {
  const responseId = randomUUID();
  const { block, usage } = input.step;
  const counts = usageOf(input.request, input.turn);
  const usageMetadata: Record<string, unknown> | undefined = usage === "none" ? undefined : { ...counts, ...usage };
  if (block !== undefined) {
    const { promptTokenCount, totalTokenCount } = usageMetadata ?? {};
    const promptFeedback = { blockReason: block };
    return [JSON.stringify({ promptFeedback, usageMetadata: { promptTokenCount, totalTokenCount }, responseId })];
  }
  return groups.map((parts, index) => {
    const isLast = index === groups.length - 1;
    // An answer without text has content without parts.
    const content = { ...(parts.length > 0 && { parts }), role: "model" };
    // Before its end a stream has empty grounding metadata.
    const end = isLast ? candidateEnd(input) : { groundingMetadata: {} };
    return JSON.stringify({
      candidates: [{ content, ...end, index: 0 }],
      usageMetadata,
      modelVersion: input.model,
      responseId,
    });
  });
}

/** A turn ends with its function calls, or with the signature of its thoughts. */
const closingParts = ({ turn }: WireInput): Part[] =>
  turn.calls.length > 0 ? callParts(turn) : turn.text === "" ? [] : [SIGNATURE_PART];

export function wholeReply(input: WireInput): Reply {
  const { text } = input.turn;
  const parts = [...openingParts(input), ...(text === "" ? [] : [{ text }]), ...closingParts(input)];
  return {
    status: 200,
    headers: { "content-type": "application/json; charset=UTF-8" },
    frames: documents(input, [parts]),
  };
}

const EVENT_END = "\r\n\r\n";

export function streamedReply(input: WireInput): Reply {
  const texts = (input.turn.text.match(CHUNK) ?? []).map((text) => [{ text }]);
  const groups = [openingParts(input), ...texts, closingParts(input)].filter((group) => group.length > 0);
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    frames: broken(
      documents(input, groups.length > 0 ? groups : [[]]).map((json) => `data: ${json}${EVENT_END}`),
      input.step.breaks,
    ),
  };
}

const MID_STREAM_ERROR = {
  code: 503,
  message: "The model is overloaded. Please try again later.",
  status: "UNAVAILABLE",
};

/** Keeps about half of the stream and appends the fault. */
function broken(frames: string[], breaks: Step["breaks"]): string[] {
  if (breaks === undefined) return frames;
  const half = Math.max(1, Math.ceil(frames.length / 2));
  const before = frames.slice(0, half);
  if (breaks === "error") return [...before, `data: ${JSON.stringify({ error: MID_STREAM_ERROR })}${EVENT_END}`];
  return breaks === "silence" ? before : [...before, (frames[half] ?? frames[0] ?? "").slice(0, 40)];
}
