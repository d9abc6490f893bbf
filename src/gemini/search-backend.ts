/** The port to Gemini for searches: one prompt in; text, and what was really visited, out. */

import { AppError } from "../errors.ts";

export interface AskRequest {
  prompt: string;
  /** Research may search the web; a correction only rewrites text it is given. */
  purpose: "research" | "correction";
  /** As configured for this purpose; undefined lets the backend choose. */
  model: string | undefined;
  signal: AbortSignal;
  /** A short line about what is happening now, for people who wait. Query and title text is untrusted. */
  onActivity: (activity: string) => void;
  /** The log of the run that asks; the backend's own where none does. */
  log?: Record<"debug" | "info" | "warn", (message: string) => void> | undefined;
}

export interface VisitedSource {
  url: string;
  title: string;
}

/** Tokens and searches as the backend counted them; what it did not count is 0. */
export interface Usage {
  input: number;
  output: number;
  /** Part of `input` that was read from a cache. */
  cached: number;
  searches: number;
  /** Prompts that used Google Search, where the backend made more than one. */
  groundedPrompts?: number | undefined;
  /** Some counts were refused because they cannot be true: what they cost is missing. */
  isIncomplete?: boolean | undefined;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cached: 0, searches: 0 };

type BackendName = "cli" | "api";

export interface Answer {
  backend: BackendName;
  text: string;
  /** The backend knows that the model stopped before it was done, for example at a token limit. */
  cut: boolean;
  /** As the backend itself reported it, never read from the text. */
  model: string | undefined;
  /** Empty when the backend cannot tell; then the model's own list is all there is. */
  sources: VisitedSource[];
  /** Addresses that the backend tried to read and did not get: no source of this answer, whatever it says. */
  unreadUrls: string[];
  queries: string[];
  /** Google's Search Suggestions as HTML, to be shown with a grounded answer. Untrusted until sandboxed. */
  searchSuggestions: string[];
  usage: Usage;
  /** Sentences for the user about how the answer came about, such as a fallback to the API. */
  notices: string[];
}

/** A failed call with what it used and received: failures are charged too. */
export class PaidFailure extends AppError {
  readonly answer: Answer;

  constructor(failure: AppError, answer: Answer) {
    super(failure);
    this.answer = answer;
  }
}

export interface Backend {
  readonly name: BackendName | "auto";
  /** Throws AppError, as PaidFailure where usage is known; `retryable` and `reason` say what a caller may do about it. */
  ask(request: AskRequest): Promise<Answer>;
}
