/** A model's turn as Google sends it: one JSON document, or a stream of server-sent events. */

import { randomUUID } from "node:crypto";
import type { ModelTurn } from "./generate-content.ts";
import type { GenerateContentRequest } from "./request.ts";

/** A whole HTTP answer; `frames` are the pieces in which a server would write its body. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  frames: string[];
}

type Part = { text: string; thought?: true } | { functionCall: ModelTurn["calls"][number]; thoughtSignature?: string };

const CHARACTERS_PER_TOKEN = 4;

const CHUNK = /[\s\S]{1,400}/gu;

const THOUGHT = "**Weighing the task**\n\nI look for sources before I answer.";

const SIGNATURE = Buffer.from("simulated thought").toString("base64");

const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

function usageOf(request: GenerateContentRequest, turn: ModelTurn): Record<string, unknown> {
  const { contents, systemInstruction, tools } = request;
  const prompt = tokens(JSON.stringify({ contents, systemInstruction, tools }).length);
  const calls = turn.calls.length > 0 ? JSON.stringify(turn.calls) : "";
  const output = tokens(turn.text.length + calls.length);
  const thoughts = tokens(THOUGHT.length);
  // What a search brings in is counted by its evidence, since the pages themselves do not exist.
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

function thoughtParts(request: GenerateContentRequest): Part[] {
  const wanted = request.generationConfig.thinkingConfig?.includeThoughts === true;
  return wanted ? [{ text: THOUGHT, thought: true }] : [];
}

interface WireInput {
  request: GenerateContentRequest;
  turn: ModelTurn;
  model: string;
}

function candidateEnd({ turn }: WireInput): Record<string, unknown> {
  const { finishReason, groundingMetadata, urlContextMetadata } = turn;
  return {
    finishReason,
    ...(groundingMetadata !== undefined && { groundingMetadata }),
    ...(urlContextMetadata !== undefined && { urlContextMetadata }),
  };
}

function documents(input: WireInput, groups: Part[][]): string[] {
  const responseId = randomUUID();
  const usageMetadata = usageOf(input.request, input.turn);
  return groups.map((parts, index) => {
    const isLast = index === groups.length - 1;
    // An answer without text has content without parts.
    const content = { ...(parts.length > 0 && { parts }), role: "model" };
    const candidate = { content, ...(isLast && candidateEnd(input)), index: 0 };
    return JSON.stringify({
      candidates: [candidate],
      usageMetadata,
      modelVersion: input.model,
      responseId,
    });
  });
}

export function wholeReply(input: WireInput): Reply {
  const { text } = input.turn;
  const parts = [...thoughtParts(input.request), ...(text === "" ? [] : [{ text }]), ...callParts(input.turn)];
  return {
    status: 200,
    headers: { "content-type": "application/json; charset=UTF-8" },
    frames: documents(input, [parts]),
  };
}

export function streamedReply(input: WireInput): Reply {
  const texts = (input.turn.text.match(CHUNK) ?? []).map((text) => [{ text }]);
  const groups = [thoughtParts(input.request), ...texts, callParts(input.turn)];
  const filled = groups.filter((group) => group.length > 0);
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    frames: documents(input, filled.length > 0 ? filled : [[]]).map((json) => `data: ${json}\r\n\r\n`),
  };
}
