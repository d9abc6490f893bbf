/** Error messages for generateContent answers that ended early or are empty. */

import { AppError, type AppErrorOptions } from "../../errors.ts";
import type { Cut } from "../search-backend.ts";

interface Ending {
  text: string;
  finishReason: string | undefined;
  /** Set if Google refused the prompt itself. */
  blockReason: string | undefined;
}

type Message = Pick<AppErrorOptions, "message" | "suggestion">;

const REPHRASE = "Rephrase the question, or ask about a narrower aspect.";
const MODEL_ARMOR_HELP =
  "Ask the owner of the Google Cloud project to adjust its Model Armor template, or rephrase the question.";

/** Not retried: the same question would be filtered again. */
const REFUSED_ANSWERS: Record<string, Message> = {
  SAFETY: { message: "Google's safety filter stopped the answer.", suggestion: REPHRASE },
  IMAGE_SAFETY: { message: "Google's safety filter stopped the answer.", suggestion: REPHRASE },
  PROHIBITED_CONTENT: {
    message: "Google stopped the answer because its rules prohibit such content.",
    suggestion: REPHRASE,
  },
  BLOCKLIST: { message: "Google stopped the answer because of a forbidden term.", suggestion: REPHRASE },
  SPII: { message: "Google stopped the answer because of sensitive personal data.", suggestion: REPHRASE },
  RECITATION: {
    message: "Google stopped the answer because it repeated a source word for word.",
    suggestion: "Ask for a summary instead of quotations.",
  },
  LANGUAGE: {
    message: "The model does not support the language of this question.",
    suggestion: "Ask in another language, or set GEMINI_MODEL to another model.",
  },
  MODEL_ARMOR: { message: "Model Armor stopped the answer.", suggestion: MODEL_ARMOR_HELP },
};

const REFUSED_PROMPTS: Record<string, Message> = {
  SAFETY: { message: "Google's safety filter refused the question.", suggestion: REPHRASE },
  PROHIBITED_CONTENT: {
    message: "Google refused the question because its rules prohibit such content.",
    suggestion: REPHRASE,
  },
  BLOCKLIST: { message: "Google refused the question because of a forbidden term.", suggestion: REPHRASE },
  MODEL_ARMOR: { message: "Model Armor refused the question.", suggestion: MODEL_ARMOR_HELP },
  JAILBREAK: {
    message: "Google refused the question as an attempt to evade its rules.",
    suggestion: REPHRASE,
  },
};

const REFUSED_PROMPT: Message = {
  message: "Google refused this question because of its content rules.",
  suggestion: REPHRASE,
};

const ASK_AGAIN = "Ask again, or set GEMINI_MODEL to another model.";

/** Retried: these depend on chance. */
const EMPTY_ANSWERS: Record<string, Message> = {
  STOP: { message: "Gemini answered without any text.", suggestion: ASK_AGAIN },
  MALFORMED_FUNCTION_CALL: { message: "Gemini ended its answer with a malformed tool call.", suggestion: ASK_AGAIN },
  UNEXPECTED_TOOL_CALL: {
    message: "Gemini ended its answer with a call to an unknown tool.",
    suggestion: ASK_AGAIN,
  },
  TOO_MANY_TOOL_CALLS: {
    message: "Gemini called its search tools too often and was stopped.",
    suggestion: "Ask a narrower question.",
  },
};

const UNKNOWN_REASON: Message = {
  message: "Google ended the answer without text and without a reason.",
  suggestion: "Rephrase the question, or set GEMINI_MODEL to another model.",
};

const INCOMPLETE: Message = {
  message: "The answer ended before it was complete.",
  suggestion: "Try again; check the network and the proxy if it happens often.",
};

const ONLY_THOUGHTS: Message = {
  message: "Gemini spent all its output tokens on thinking and wrote no answer.",
  suggestion: "Ask a narrower question, or set GEMINI_MODEL to another model.",
};

/** Undefined if there is an answer, complete or truncated. */
export function failureOfEnding({ text, finishReason, blockReason }: Ending): AppError | undefined {
  const refused = REFUSED_ANSWERS[finishReason ?? ""];
  const details = text.trim() === "" ? undefined : { partial_text: text };
  if (refused !== undefined) return failure({ ...refused, reason: "input", details });
  if (details !== undefined) return undefined;
  if (blockReason !== undefined) {
    return failure({ ...(REFUSED_PROMPTS[blockReason] ?? REFUSED_PROMPT), reason: "input" });
  }
  if (finishReason === "MAX_TOKENS") return failure({ ...ONLY_THOUGHTS, reason: "cut", retryable: true });
  if (finishReason === undefined) return incompleteAnswer("");
  return failure({ ...(EMPTY_ANSWERS[finishReason] ?? UNKNOWN_REASON), reason: "no_answer", retryable: true });
}

/** For a stream that ended early. Its text is kept. */
export const incompleteAnswer = (text: string, cause?: unknown): AppError =>
  failure({
    ...INCOMPLETE,
    reason: "network",
    retryable: true,
    details: text.trim() === "" ? undefined : { partial_text: text },
    cause,
  });

const failure = (options: Omit<AppErrorOptions, "code">): AppError =>
  new AppError({ code: "EXECUTION_ERROR", ...options });

const CUT_BY: Record<string, Cut | false> = {
  STOP: false,
  MAX_TOKENS: "output_limit",
  TOO_MANY_TOOL_CALLS: "tool_calls",
  MALFORMED_FUNCTION_CALL: "malformed_call",
  UNEXPECTED_TOOL_CALL: "malformed_call",
};

/** Only STOP marks a complete answer; without a finish reason the stream broke. */
export const cutBy = ({ finishReason }: Pick<Ending, "finishReason">): Cut | false =>
  finishReason === undefined ? "lost" : (CUT_BY[finishReason] ?? "stopped");
