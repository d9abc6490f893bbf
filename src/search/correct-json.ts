/** One question to Gemini until it is answered in a form we can use: main prompt, one correction, and again. */

import { AppError } from "../errors.ts";
import {
  type Answer,
  type AskRequest,
  type Backend,
  PaidFailure,
  type VisitedSource,
} from "../gemini/search-backend.ts";
import { cancelled } from "../gemini/failures.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { type CutAnswer, createCutAnswers } from "./cut-answers.ts";
import { type Extraction, extractJsonFromOutput } from "./extract-json.ts";
import type { Prompts } from "./prompts.ts";
import type { AnswerSchema, ResearchAnswer } from "./schemas.ts";

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

/** Keeps an unusable output in a file for as long as its correction lasts. */
interface InvalidOutputs {
  keep(text: string): Promise<{ path: string; remove(): Promise<void> }>;
}

/** What the caller of a search gets to see while it lasts. */
export interface SearchCall {
  signal: AbortSignal;
  onActivity: (activity: string) => void;
  /** Every answer that was paid for, usable or not. */
  onAnswer: (answer: Answer) => void;
}

export interface Question {
  prompt: string;
  /** The prompt without what an earlier round found: what an answer must not merely repeat. */
  echo: string;
  schema: AnswerSchema;
}

export interface Research {
  answer: ResearchAnswer;
  model: string;
  /** What the backend saw being visited; the model's own list only where the backend saw nothing. */
  sources: VisitedSource[];
  queries: string[];
  /** Google's Search Suggestions for this answer, as HTML. */
  searchSuggestions: string[];
  /** The report breaks off. */
  incomplete: boolean;
}

const WAITS_MS = [1_000, 2_000, 5_000];
/** The prompt has to stay far below what the CLI reads from stdin. */
const MOST_CORRECTED_CHARACTERS = 1_000_000;

export async function executeResearchWithCorrection(
  deps: SearchDeps,
  question: Question,
  call: SearchCall,
): Promise<Research> {
  const tried: Tried = { cycles: 0, corrections: 0, bestText: "", partialText: "", lastFailure: undefined };
  const cuts = createCutAnswers();
  while (tried.cycles < deps.maxCycles && !cuts.isFinal()) {
    tried.cycles += 1;
    if (tried.cycles > 1) await pause(deps, tried.cycles, call);
    const main = await askMain(deps, { ...question, prompt: cuts.promptFor(question.prompt) }, call);
    if (main instanceof AppError) {
      const saved = answerIn(main, question);
      if (saved?.kind === "valid") return finished(deps, saved.answer, spentOf(main) ?? NOTHING_SEEN);
      if (main.reason === "cut") cuts.add(undefined, undefined);
      tried.lastFailure = main;
      tried.partialText = longer(tried.partialText, saved?.bestText ?? "");
      if (main.retryable) continue;
      if (cuts.longest() === undefined) throw main;
      break;
    }
    const extraction = extractJsonFromOutput(main.text, question.schema, { prompt: question.echo, cut: main.cut });
    if (extraction.kind === "valid") {
      if (extraction.repaired) deps.log.debug("The answer was not valid JSON; it was repaired locally.");
      return finished(deps, extraction.answer, main);
    }
    tried.lastFailure = undefined;
    deps.log.warn(`Main search failed: ${INVALID_BECAUSE[extraction.reason]}`);
    tried.bestText = longer(tried.bestText, extraction.bestText);
    // Text that ends in the middle of the report cannot be made whole by formatting it.
    if (extraction.reason === "cut") {
      cuts.add(extraction.report, main);
      continue;
    }
    tried.corrections += 1;
    const corrected = await correctJsonOutput(deps, { output: main.text, schema: question.schema }, call);
    if (corrected !== undefined) return finished(deps, corrected, main);
  }
  const longest = cuts.longest();
  if (longest === undefined) throw exhausted(tried);
  return incomplete(deps, longest);
}

/** E9: it was paid for, and most of it is there. */
function incomplete(deps: SearchDeps, { report, main }: CutAnswer): Research {
  deps.log.warn("The answer breaks off; its longest text is returned as incomplete.");
  const answer = { success: true, verified: false, report, metadata: { sources_visited: [], search_queries_used: [] } };
  return { ...finished(deps, answer, main), incomplete: true };
}

const spentOf = (failure: AppError): Answer | undefined =>
  failure instanceof PaidFailure ? failure.answer : undefined;

const longer = (one: string, other: string): string => (other.length > one.length ? other : one);

/** A call may break after the model had said everything: what was paid for is used if it is whole. */
function answerIn(failure: AppError, question: Question): Extraction | undefined {
  const text = failure.details?.["partial_text"];
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return extractJsonFromOutput(text, question.schema, { prompt: question.echo, cut: true });
}

const NOTHING_SEEN = { model: undefined, sources: [], unreadUrls: [], queries: [], searchSuggestions: [] };

const INVALID_BECAUSE: Record<Extract<Extraction, { kind: "invalid" }>["reason"], string> = {
  no_json: "the answer holds no JSON.",
  schema: "the answer holds JSON, but not in the form that was asked for.",
  echo: "the answer only repeats what it was shown.",
  cut: "the answer breaks off in the middle of the report.",
};

async function pause(deps: SearchDeps, cycle: number, call: SearchCall): Promise<void> {
  const wait = WAITS_MS[Math.min(cycle - 2, WAITS_MS.length - 1)] ?? 0;
  call.onActivity(`Trying again (${cycle} of ${deps.maxCycles})`);
  await deps.clock.sleep(wait, call.signal).catch(() => {
    throw cancelled();
  });
}

/** A fault is a value: the next cycle may do better, or the answer may have come before it. A cancel ends the call. */
async function askMain(deps: SearchDeps, question: Question, call: SearchCall): Promise<Answer | AppError> {
  try {
    return await ask(deps, call, { prompt: question.prompt, purpose: "research", model: deps.model });
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "CANCELLED") throw error;
    deps.log.warn(`Main search failed: ${error.message}`);
    return error;
  }
}

async function ask(
  deps: SearchDeps,
  call: SearchCall,
  request: Pick<AskRequest, "prompt" | "purpose" | "model">,
): Promise<Answer> {
  const { signal, onActivity } = call;
  try {
    const answer = await deps.backend.ask({ ...request, signal, onActivity, log: deps.log });
    call.onAnswer(answer);
    return answer;
  } catch (error) {
    if (error instanceof PaidFailure) call.onAnswer(error.answer);
    throw error;
  }
}

/** Asks Gemini to bring an output into the schema. Undefined when that fails; the reason is logged. */
async function correctJsonOutput(
  deps: SearchDeps,
  invalid: { output: string; schema: AnswerSchema },
  call: SearchCall,
): Promise<ResearchAnswer | undefined> {
  call.onActivity("Correcting the form of the answer");
  const file = await deps.invalidOutputs.keep(invalid.output);
  try {
    const prompt = deps.prompts.render("correction-prompt", {
      file: file.path,
      output: invalid.output.slice(0, MOST_CORRECTED_CHARACTERS),
      example: invalid.schema.example,
    });
    const answer = await ask(deps, call, { prompt, purpose: "correction", model: deps.correctionModel });
    const extraction = extractJsonFromOutput(answer.text, invalid.schema, { cut: answer.cut });
    if (extraction.kind === "invalid") {
      deps.log.error(`JSON correction failed: ${INVALID_BECAUSE[extraction.reason]}`);
      return undefined;
    }
    if (!extraction.answer.success) {
      deps.log.error("JSON correction failed: the output holds no research.");
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

function finished(
  deps: SearchDeps,
  answer: ResearchAnswer,
  main: Pick<Answer, "model" | "sources" | "unreadUrls" | "queries" | "searchSuggestions">,
): Research {
  if (!answer.success) {
    throw new AppError({
      code: "SEARCH_FAILED",
      message: "Gemini answered that it found nothing useful for this question.",
      suggestion: "Rephrase the question, make it more specific, or split it.",
    });
  }
  const { sources_visited, search_queries_used } = answer.metadata;
  // The model's own list stands only where the backend reported nothing: it also names pages that were never read.
  const isReported = main.sources.length > 0 || main.unreadUrls.length > 0;
  return {
    answer,
    model: deps.model ?? main.model ?? "auto-detected",
    sources: isReported ? main.sources : sources_visited.map((url) => ({ url, title: "" })),
    queries: main.queries.length > 0 ? main.queries : search_queries_used,
    searchSuggestions: main.searchSuggestions,
    incomplete: false,
  };
}

/** What became of the tries so far. */
interface Tried {
  cycles: number;
  corrections: number;
  /** Of answers that arrived but could not be used. */
  bestText: string;
  /** Of answers that broke off on their way. */
  partialText: string;
  lastFailure: AppError | undefined;
}

function exhausted({ cycles, corrections, bestText, partialText, lastFailure }: Tried): AppError {
  const tried = `${cycles} ${cycles === 1 ? "try" : "tries"} and ${corrections} ${corrections === 1 ? "correction" : "corrections"}`;
  // Google away or refusing is another matter than a model that cannot write JSON.
  if (lastFailure !== undefined && bestText === "") {
    return new AppError({
      code: lastFailure.code,
      message: `${lastFailure.message} All retries are used up (${tried}).`,
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
    message: `Gemini gave no usable answer: all retries and corrections are used up (${tried}).`,
    suggestion: "The best text it gave is in details.best_text. Ask again, or set GEMINI_MODEL to another model.",
    details: { retries: cycles, corrections, best_text: longer(bestText, partialText) },
    reason: "no_answer",
  });
}
