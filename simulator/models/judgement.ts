/** The simulated model's judgement of a citation: the sentence that shares the most words with the claim decides. */

import type { PromptReading } from "./prompt.ts";

const MIN_SHARED = 0.6;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];

export function judge({ claim = "", passages = "" }: Pick<PromptReading, "claim" | "passages">): string {
  const wanted = wordsOf(claim);
  const shared = (sentence: string): number => {
    const words = new Set(wordsOf(sentence));
    return wanted.filter((word) => words.has(word)).length / Math.max(1, wanted.length);
  };
  const sentences = passages.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== "");
  const [best = ""] = sentences.toSorted((one, other) => shared(other) - shared(one));
  const isFound = shared(best) >= MIN_SHARED;
  const answer = { verdict: isFound ? "supported" : "unsupported", quote: isFound ? best : "" };
  return `\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``;
}
