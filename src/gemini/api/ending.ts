/** Why a generateContent answer ended early or stayed empty, in sentences of our own. */

import { AppError, type AppErrorOptions } from "../../errors.ts";

export interface Ending {
  text: string;
  finishReason: string | undefined;
  /** Google refused the prompt itself. */
  blockReason: string | undefined;
}

type Sentence = Pick<AppErrorOptions, "message" | "suggestion">;

const IN_OTHER_WORDS = "Ask in other words, or ask about a narrower aspect.";
const MODEL_ARMOR_HELP =
  "Ask whoever runs the Google Cloud project to adjust its Model Armor template, or ask in other words.";

/** The same question meets the same filter: these are not retried. */
const REFUSED_ANSWERS: Record<string, Sentence> = {
  SAFETY: { message: "Google's safety filter stopped the answer.", suggestion: IN_OTHER_WORDS },
  IMAGE_SAFETY: { message: "Google's safety filter stopped the answer.", suggestion: IN_OTHER_WORDS },
  PROHIBITED_CONTENT: {
    message: "Google stopped the answer because its rules prohibit such content.",
    suggestion: IN_OTHER_WORDS,
  },
  BLOCKLIST: { message: "Google stopped the answer because of a forbidden term.", suggestion: IN_OTHER_WORDS },
  SPII: { message: "Google stopped the answer because of sensitive personal data.", suggestion: IN_OTHER_WORDS },
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

const REFUSED_PROMPTS: Record<string, Sentence> = {
  SAFETY: { message: "Google's safety filter refused the question.", suggestion: IN_OTHER_WORDS },
  PROHIBITED_CONTENT: {
    message: "Google refused the question because its rules prohibit such content.",
    suggestion: IN_OTHER_WORDS,
  },
  BLOCKLIST: { message: "Google refused the question because of a forbidden term.", suggestion: IN_OTHER_WORDS },
  MODEL_ARMOR: { message: "Model Armor refused the question.", suggestion: MODEL_ARMOR_HELP },
  JAILBREAK: {
    message: "Google refused the question because it took it for an attempt to evade its rules.",
    suggestion: IN_OTHER_WORDS,
  },
};

const REFUSED_PROMPT: Sentence = {
  message: "Google refused this question because of its content rules.",
  suggestion: IN_OTHER_WORDS,
};

const ASK_AGAIN = "Ask again, or set GEMINI_MODEL to another model.";

/** Chance has a part in these: another try may succeed. */
const EMPTY_ANSWERS: Record<string, Sentence> = {
  STOP: { message: "Gemini answered without any text.", suggestion: ASK_AGAIN },
  MALFORMED_FUNCTION_CALL: { message: "Gemini ended its answer with a malformed tool call.", suggestion: ASK_AGAIN },
  UNEXPECTED_TOOL_CALL: {
    message: "Gemini ended its answer with a call of a tool that it was not given.",
    suggestion: ASK_AGAIN,
  },
  TOO_MANY_TOOL_CALLS: {
    message: "Gemini called its search tools too often and was stopped.",
    suggestion: "Ask a narrower question.",
  },
};

const UNNAMED: Sentence = {
  message: "Google ended the answer without text and without a reason.",
  suggestion: "Ask in other words, or set GEMINI_MODEL to another model.",
};

const BROKE_OFF: Sentence = {
  message: "The answer broke off before it was complete.",
  suggestion: "Try again; check the network and the proxy if it happens often.",
};

const SPENT_ON_THOUGHTS: Sentence = {
  message: "Gemini spent all its output tokens on thinking and wrote no answer.",
  suggestion: "Ask a narrower question, or set GEMINI_MODEL to another model.",
};

/** Undefined where there is an answer, whole or cut. */
export function failureOfEnding({ text, finishReason, blockReason }: Ending): AppError | undefined {
  const refused = REFUSED_ANSWERS[finishReason ?? ""];
  const details = text.trim() === "" ? undefined : { partial_text: text };
  if (refused !== undefined) return failure({ ...refused, reason: "input", details });
  if (details !== undefined) return undefined;
  if (blockReason !== undefined) {
    return failure({ ...(REFUSED_PROMPTS[blockReason] ?? REFUSED_PROMPT), reason: "input" });
  }
  if (finishReason === "MAX_TOKENS") return failure({ ...SPENT_ON_THOUGHTS, reason: "cut", retryable: true });
  if (finishReason === undefined) return brokeOff("");
  return failure({ ...(EMPTY_ANSWERS[finishReason] ?? UNNAMED), reason: "no_answer", retryable: true });
}

/** The stream ended in the middle. What came before is kept. */
export const brokeOff = (text: string, cause?: unknown): AppError =>
  failure({
    ...BROKE_OFF,
    reason: "network",
    retryable: true,
    details: text.trim() === "" ? undefined : { partial_text: text },
    cause,
  });

const failure = (options: Omit<AppErrorOptions, "code">): AppError =>
  new AppError({ code: "EXECUTION_ERROR", ...options });

/** Only a natural stop is a whole answer; a stream without a reason at its end broke off. */
export const isCut = ({ finishReason }: Pick<Ending, "finishReason">): boolean => finishReason !== "STOP";
