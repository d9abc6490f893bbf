/** Port to Gemini for searches: takes one prompt, returns text and the sources that were really visited. */

import { AppError } from "../errors.ts";

export interface AskRequest {
  prompt: string;
  /** Research may search the web; a correction only rewrites the given text. */
  purpose: "research" | "correction";
  /** The model configured for this purpose; undefined lets the backend choose. */
  model: string | undefined;
  signal: AbortSignal;
  /** Receives a short description of the current activity for display. Query and title text is untrusted. */
  onActivity: (activity: string) => void;
  /** Receives the text of the answer so far, each time that more of it arrives. Untrusted. */
  onText?: ((text: string) => void) | undefined;
  /** The run's log; defaults to the backend's own. */
  log?: Record<"debug" | "info" | "warn", (message: string) => void> | undefined;
}

export interface VisitedSource {
  url: string;
  title: string;
}

/** A segment of an answer, as Google quotes it, and the pages that it names for it. Untrusted. */
export interface GroundedSegment {
  text: string;
  urls: string[];
}

/** Tokens and searches as the backend reported them; what it did not report is 0. */
export interface Usage {
  input: number;
  output: number;
  /** Part of `input` that was read from a cache. */
  cached: number;
  searches: number;
  /** Prompts that used Google Search, where the backend made more than one. */
  groundedPrompts?: number | undefined;
  /** Some counts were not reported or implausible; they are 0, and their cost is missing. */
  isIncomplete?: boolean | undefined;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cached: 0, searches: 0 };

type BackendName = "cli" | "api";

/** Why a text ends early. `lost`: its end did not arrive; `unfinished`: it breaks off, and the backend names no reason. */
export const CUTS = ["output_limit", "tool_calls", "malformed_call", "stopped", "lost", "unfinished"] as const;
export type Cut = (typeof CUTS)[number];

export interface Answer {
  backend: BackendName;
  text: string;
  /** The model stopped early, as far as the backend can tell. */
  cut: Cut | false;
  /** As the backend reported it, never taken from the text. */
  model: string | undefined;
  /** Empty if the backend does not report sources; then only the model's own list is available. */
  sources: VisitedSource[];
  /** URLs that the backend failed to read: they are not sources of this answer, even if the text cites them. */
  unreadUrls: string[];
  /** URLs of pages whose text the model received in this call. A page that was only found is not among them. */
  openedUrls: string[];
  queries: string[];
  /** Whether a page was found or opened, or the web was searched; undefined if the backend cannot tell. */
  isGrounded: boolean | undefined;
  /** Google's Search Suggestions as HTML, to be shown with a grounded answer. Untrusted. */
  searchSuggestions: string[];
  /** Google's grounding supports; undefined if the backend does not report any. */
  supports?: GroundedSegment[] | undefined;
  usage: Usage;
  /** Messages for the user about how the answer was produced, such as a fallback to the API. */
  notices: string[];
}

/** The maximum of Gemini 4. Thinking counts as output: below 32,768 tokens Argon may charge for an empty answer. */
const GEMINI_4_OUTPUT_TOKENS = 65_536;

/** The output limit without which a model may charge for an empty answer; undefined if it needs none. */
export const requiredOutputTokens = (model: string): number | undefined =>
  /^(?:models\/)?gemini-4-/.test(model.trim()) ? GEMINI_4_OUTPUT_TOKENS : undefined;

/** A failed call with what it received and used, because failed calls are charged too. */
export class PaidFailure extends AppError {
  readonly answer: Answer;

  constructor(failure: AppError, answer: Answer) {
    super(failure);
    this.answer = answer;
  }
}

export interface Backend {
  readonly name: BackendName | "auto";
  /** Why no call can succeed, found without starting anything: a program or a key is missing. */
  obstacle(): AppError | undefined;
  /** Throws AppError, or PaidFailure if Google had begun to answer; `retryable` and `reason` tell the caller how to proceed. */
  ask(request: AskRequest): Promise<Answer>;
}

/** Far above any model call, and small enough for exact sums. */
const MAX_TOKENS_PER_COUNT = 1_000_000_000;

/** A missing count is 0; a negative, fractional, huge or non-numeric one is undefined. */
export function readTokenCount(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS_PER_COUNT;
  return isCount ? value : undefined;
}

const MODEL_NAME = /^[A-Za-z0-9][\w.:/@-]{0,127}$/;

/** The model name, or undefined for any other text. */
export const readModelName = (value: unknown): string | undefined =>
  typeof value === "string" && MODEL_NAME.test(value) ? value : undefined;
