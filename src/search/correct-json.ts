/** Asks Gemini until the answer is usable: a main prompt and at most one correction per cycle. */

import { AppError } from "../errors.ts";
import {
  type Answer,
  type AskRequest,
  type Backend,
  type GroundedSegment,
  PaidFailure,
  type VisitedSource,
} from "../gemini/search-backend.ts";
import { cancelled } from "../gemini/failures.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { unexpectedError } from "../platform/unexpected-error.ts";
import { type Extraction, extractJsonFromOutput, reportSoFar } from "./extract-json.ts";
import type { Prompts } from "./prompts.ts";
import { type AnswerSchema, isEcho, type ResearchAnswer } from "./schemas.ts";

export interface SearchDeps {
  backend: Backend;
  prompts: Prompts;
  invalidOutputs: InvalidOutputs;
  clock: Clock;
  log: Log;
  model: string | undefined;
  correctionModel: string | undefined;
  maxCycles: number;
}

/** Keeps an unusable output in a file during its correction. */
interface InvalidOutputs {
  keep(text: string): Promise<{ path: string; remove(): Promise<void> }>;
}

export type DraftSink = (read: () => string | undefined) => void;

/** The caller's signal and callbacks during a search. */
export interface SearchCall {
  signal: AbortSignal;
  onActivity: (activity: string) => void;
  /** Receives a function that reads the report so far, each time that more of it is written. */
  onDraft?: DraftSink | undefined;
  /** Receives the start of each round of a search that has several. */
  onRoundStart: (round: string) => void;
  /** Called before each model call; the function that it resolves with receives the answer, usable or not, or the failure. */
  onAsk: (request: PaidCall) => Promise<(outcome: Answer | AppError) => void>;
}

/** A model call that costs money. */
type PaidCall = Pick<AskRequest, "prompt" | "purpose" | "model">;

interface Question {
  prompt: string;
  /** The prompt without an earlier round's result; an answer must not merely repeat it. */
  echo: string;
  schema: AnswerSchema;
}

export interface Research {
  answer: ResearchAnswer;
  model: string;
  /** Pages that the backend reported; the model's own list only if the backend reported none. */
  sources: VisitedSource[];
  queries: string[];
  /** Google's Search Suggestions for this answer, as HTML. */
  searchSuggestions: string[];
  /** Undefined if the backend cannot tell. */
  isGrounded: boolean | undefined;
  reading: PagesRead;
  /** Google's grounding supports; their texts are those of the answer, in which the report is escaped. */
  supports: GroundedSegment[];
  /** Why the report is truncated. */
  incomplete: Answer["cut"];
}

/** The pages that the model was given in one call, as the backend reported them. */
export interface PagesRead {
  /** Undefined if the call failed before it could report pages. */
  backend: Answer["backend"] | undefined;
  opened: readonly string[];
  unread: readonly string[];
}

const RETRY_DELAYS_MS = [1_000, 2_000, 5_000];
/** Keeps the prompt far below the CLI's limit for stdin. */
const MAX_CORRECTED_CHARACTERS = 1_000_000;

export async function executeResearchWithCorrection(
  deps: SearchDeps,
  question: Question,
  call: SearchCall,
): Promise<Research> {
  const attempts: Attempts = {
    cycles: 0,
    corrections: 0,
    bestText: "",
    partialText: "",
    cuts: createCutAnswers(),
    lastFailure: undefined,
  };
  try {
    return await tryUntilUsable(deps, { question, attempts }, call);
  } catch (error) {
    throw withPaidText(error, { question, attempts });
  }
}

interface Asked {
  question: Question;
  attempts: Attempts;
}

async function tryUntilUsable(deps: SearchDeps, { question, attempts }: Asked, call: SearchCall): Promise<Research> {
  const { cuts } = attempts;
  while (attempts.cycles < deps.maxCycles && !cuts.isFinal()) {
    attempts.cycles += 1;
    if (attempts.cycles > 1) await pause(deps, attempts.cycles, call);
    const main = await askMain(deps, { ...question, prompt: cuts.promptFor(question.prompt) }, call);
    if (main instanceof AppError) {
      const saved = answerIn(main, question);
      const paid = main instanceof PaidFailure ? main.answer : NO_EVIDENCE;
      if (saved?.kind === "valid") return toResearch(deps, saved.answer, paid);
      if (main.reason === "cut") cuts.add(undefined, undefined);
      attempts.lastFailure = main;
      attempts.partialText = longer(attempts.partialText, saved?.bestText ?? "");
      if (main.retryable) continue;
      if (cuts.longest() === undefined) throw main;
      break;
    }
    const extraction = extractJsonFromOutput(main.text, question.schema, { prompt: question.echo, cut: main.cut });
    if (extraction.kind === "valid") {
      if (extraction.repaired) deps.log.debug("The answer was not valid JSON; it was repaired locally.");
      return toResearch(deps, extraction.answer, main);
    }
    attempts.lastFailure = undefined;
    deps.log.warn(`Main search failed: ${INVALID_REASONS[extraction.reason]}`);
    attempts.bestText = longer(attempts.bestText, extraction.bestText);
    // A correction cannot complete a report that ends in the middle.
    if (extraction.reason === "cut") {
      cuts.add(extraction.report, main);
      continue;
    }
    attempts.corrections += 1;
    const corrected = await correctJsonOutput(deps, { output: main.text, schema: question.schema }, call);
    if (corrected !== undefined) return toResearch(deps, corrected, main);
  }
  const longest = cuts.longest();
  if (longest === undefined) throw exhausted(attempts);
  return incomplete(deps, longest);
}

/** Whatever ends the search, the longest text of its answers is in the error: it was paid for. */
function withPaidText(error: unknown, { question, attempts }: Asked): unknown {
  if (!(error instanceof AppError) || error.details?.["best_text"] !== undefined) return error;
  const last = answerIn(error, question);
  const ofLast = last?.kind === "valid" ? (last.answer.report ?? "") : (last?.bestText ?? "");
  const text = [attempts.bestText, attempts.partialText, attempts.cuts.longest()?.report ?? ""].reduce(longer, ofLast);
  if (text === "") return error;
  return new AppError({ ...error, message: error.message, details: { ...error.details, best_text: text } });
}

/** Returns the longest truncated answer, because it was paid for and is mostly complete (E9). */
function incomplete(deps: SearchDeps, { report, main }: CutAnswer): Research {
  deps.log.warn("The answer breaks off; the longest text is returned as incomplete.");
  const metadata = { sources_visited: [], search_queries_used: [] };
  const answer = { success: true, verified: false, report, checks: [], metadata };
  return { ...toResearch(deps, answer, main), incomplete: main.cut || "unfinished" };
}

const longer = (first: string, second: string): string => (second.length > first.length ? second : first);

/** A call may fail after the model has finished: a complete answer is used, because it was paid for. */
function answerIn(failure: AppError, question: Question): Extraction | undefined {
  const text = failure.details?.["partial_text"] ?? (failure instanceof PaidFailure ? failure.answer.text : undefined);
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return extractJsonFromOutput(text, question.schema, { prompt: question.echo, cut: true });
}

const NO_EVIDENCE = {
  model: undefined,
  backend: undefined,
  sources: [],
  unreadUrls: [],
  openedUrls: [],
  queries: [],
  isGrounded: undefined,
  searchSuggestions: [],
};

const INVALID_REASONS: Record<Extract<Extraction, { kind: "invalid" }>["reason"], string> = {
  no_json: "the answer contains no JSON.",
  schema: "the answer contains JSON, but not in the requested form.",
  echo: "the answer only repeats the prompt.",
  cut: "the answer breaks off in the middle of the report.",
};

async function pause(deps: SearchDeps, cycle: number, call: SearchCall): Promise<void> {
  const wait = RETRY_DELAYS_MS[Math.min(cycle - 2, RETRY_DELAYS_MS.length - 1)] ?? 0;
  call.onActivity(`Trying again (${cycle} of ${deps.maxCycles})`);
  await deps.clock.sleep(wait, call.signal).catch(() => {
    throw cancelled();
  });
}

/** Returns a failure, because the next cycle may succeed or the failure may contain the answer. A cancel is thrown. */
async function askMain(deps: SearchDeps, question: Question, call: SearchCall): Promise<Answer | AppError> {
  try {
    return await ask(deps, call, { prompt: question.prompt, purpose: "research", model: deps.model });
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "CANCELLED") throw error;
    deps.log.warn(`Main search failed: ${error.message}`);
    return error;
  }
}

async function ask(deps: SearchDeps, call: SearchCall, request: PaidCall): Promise<Answer> {
  const { signal, onActivity, onDraft } = call;
  const onText = (text: string): void => {
    try {
      onDraft?.(() => reportSoFar(text));
    } catch (error) {
      // A draft that cannot be shown must not end a paid call. It is tried again with the next text.
      deps.log.debug(unexpectedError(error).message);
    }
  };
  const settle = await call.onAsk(request);
  try {
    const answer = await deps.backend.ask({
      ...request,
      signal,
      onActivity,
      onText: request.purpose === "research" ? onText : undefined,
      log: deps.log,
    });
    settle(answer);
    return answer;
  } catch (error) {
    if (error instanceof AppError) settle(error instanceof PaidFailure ? error.answer : error);
    throw error;
  }
}

/** Asks Gemini to bring an output into the schema. Logs the reason and returns undefined if that fails. */
async function correctJsonOutput(
  deps: SearchDeps,
  invalid: { output: string; schema: AnswerSchema },
  call: SearchCall,
): Promise<ResearchAnswer | undefined> {
  call.onActivity("Fixing the answer's format");
  const file = await deps.invalidOutputs.keep(invalid.output);
  try {
    const prompt = deps.prompts.render("correction-prompt", {
      file: file.path,
      output: invalid.output.slice(0, MAX_CORRECTED_CHARACTERS),
      example: invalid.schema.example,
    });
    const answer = await ask(deps, call, { prompt, purpose: "correction", model: deps.correctionModel });
    const extraction = extractJsonFromOutput(answer.text, invalid.schema, { cut: answer.cut });
    if (extraction.kind === "invalid") {
      deps.log.error(`JSON correction failed: ${INVALID_REASONS[extraction.reason]}`);
      return undefined;
    }
    if (!extraction.answer.success) {
      deps.log.error("JSON correction failed: the output contains no research.");
      return undefined;
    }
    return extraction.answer;
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "CANCELLED") throw error;
    deps.log.error(`JSON correction failed: ${error.message}`);
    return undefined;
  } finally {
    await file.remove();
  }
}

function toResearch(
  deps: SearchDeps,
  answer: ResearchAnswer,
  main: Pick<
    Answer,
    "model" | "sources" | "unreadUrls" | "openedUrls" | "queries" | "isGrounded" | "searchSuggestions" | "supports"
  > & {
    backend: Answer["backend"] | undefined;
  },
): Research {
  if (!answer.success) throw foundNothing(answer);
  const { sources_visited, search_queries_used } = answer.metadata;
  // The model's own list may include pages that were never read, so it is only used if the backend reported nothing.
  const isReported = main.sources.length > 0 || main.unreadUrls.length > 0;
  return {
    answer,
    model: deps.model ?? main.model ?? "auto-detected",
    sources: isReported ? main.sources : sources_visited.map((url) => ({ url, title: "" })),
    queries: main.queries.length > 0 ? main.queries : search_queries_used,
    searchSuggestions: main.searchSuggestions,
    isGrounded: main.isGrounded,
    reading: { backend: main.backend, opened: main.openedUrls, unread: main.unreadUrls },
    supports: main.supports ?? [],
    incomplete: false,
  };
}

/** A refusal may still have a text, which was paid for. */
const foundNothing = ({ report }: ResearchAnswer): AppError =>
  new AppError({
    code: "SEARCH_FAILED",
    message: "Gemini answered that it found nothing useful for this question.",
    suggestion: "Rephrase the question, make it more specific, or split it.",
    details: report === undefined || report.trim() === "" ? undefined : { best_text: report },
  });

interface Attempts {
  cycles: number;
  corrections: number;
  /** The longest text of complete but unusable answers. */
  bestText: string;
  /** The longest text of answers whose call failed. */
  partialText: string;
  cuts: ReturnType<typeof createCutAnswers>;
  lastFailure: AppError | undefined;
}

function exhausted({ cycles, corrections, bestText, partialText, lastFailure }: Attempts): AppError {
  const counts = `${cycles} ${cycles === 1 ? "try" : "tries"} and ${corrections} ${corrections === 1 ? "correction" : "corrections"}`;
  // A failure of Google's is reported as such, not as an unusable answer.
  if (lastFailure !== undefined && bestText === "") {
    return new AppError({
      code: lastFailure.code,
      // Without a network every try failed alike: how many there were says nothing.
      message:
        lastFailure.reason === "network"
          ? lastFailure.message
          : [lastFailure.message, ...(cycles === 1 ? [] : [`It was tried ${cycles} times.`])].join(" "),
      suggestion: lastFailure.suggestion,
      details: {
        ...lastFailure.details,
        ...(partialText === "" ? {} : { partial_text: partialText }),
        retries: cycles,
        corrections,
      },
      reason: lastFailure.reason,
    });
  }
  return new AppError({
    code: "EXECUTION_ERROR",
    message: `Gemini did not return a usable answer after ${counts}.`,
    suggestion: "The best text is in details.best_text. Ask again, or set GEMINI_MODEL to another model.",
    details: { retries: cycles, corrections, best_text: longer(bestText, partialText) },
    reason: "no_answer",
  });
}

/** After the first truncation a shorter answer is requested; a second one shows that this does not help. */
const MAX_CUTS = 2;

const MIN_REPORT_CHARACTERS = 1_000;
/** Used if nothing was written, because thinking used up the tokens. */
const DEFAULT_REPORT_CHARACTERS = 4_000;

interface CutAnswer {
  report: string;
  main: Answer;
}

interface CutAnswers {
  /** `report` is undefined if the answer ended before its report began. */
  add(report: string | undefined, main: Answer | undefined): void;
  /** Whether no further attempt should be made. */
  isFinal(): boolean;
  longest(): CutAnswer | undefined;
  /** The prompt, after a truncation with the request for a shorter answer. */
  promptFor(prompt: string): string;
}

function createCutAnswers(): CutAnswers {
  let cuts = 0;
  let longest: CutAnswer | undefined;
  return {
    add: (report, main) => {
      cuts += 1;
      if (report === undefined || main === undefined || !isResult(report)) return;
      if (longest === undefined || report.length > longest.report.length) longest = { report, main };
    },
    isFinal: () => cuts >= MAX_CUTS,
    longest: () => longest,
    promptFor: (prompt) => {
      if (cuts === 0) return prompt;
      const half = Math.max(MIN_REPORT_CHARACTERS, Math.round((longest?.report.length ?? 0) / 2));
      const characters = longest === undefined ? DEFAULT_REPORT_CHARACTERS : half;
      return `${prompt}\n\nThe last answer to this task was too long and was cut off. Answer again in the same form, with a report of at most ${characters} characters.`;
    },
  };
}

const isResult = (report: string): boolean => report.trim() !== "" && !isEcho({ success: true, report }, undefined);
