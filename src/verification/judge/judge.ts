/** The judge of citations with a model: counts what it sends before it is sent, and what it used. */

import { z } from "zod";
import { disagreement } from "../../claims/disagreement.ts";
import type { Evidence, Verdict } from "../../claims/evidence.ts";
import type { CostOf } from "../../costs/actual.ts";
import { AppError, type FailureReason } from "../../errors.ts";
import { cancelled as cancelledCall } from "../../gemini/failures.ts";
import { type Answer, NO_USAGE, PaidFailure, requiredOutputTokens } from "../../gemini/search-backend.ts";
import type { PageText } from "../../pages/page.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../store/database.ts";
import { addJudgeUsage, countJudgeRequest } from "../claim-store.ts";
import { type Judge, type JudgePrice, type JudgeRequest, MAX_PASSAGES, type OpenClaim } from "./judge-port.ts";

export interface JudgeDeps {
  db: Database;
  clock: Clock;
  log: Log;
  model: string;
  costOf: CostOf;
  promptFor(values: JudgeValues): string;
  send(prompt: string, limits: { signal: AbortSignal; maxOutputTokens: number }): Promise<Answer>;
}

/** An answer takes seconds. A client that cancelled does not wait; the shutdown of a process ends it sooner. */
const MAX_LATE_ANSWER_MS = 15_000;

export function createJudge(deps: JudgeDeps): Judge {
  const { clock, model } = deps;
  return {
    model,
    priceOf: (requests) => judgePrice(requests, deps, clock.now()),
    judge: async ({ taskId, source, page, claims }, { signal, deadline }) => {
      const evidence: Evidence[] = [];
      for (const claim of claims) {
        if (signal.aborted || clock.monotonic() >= deadline) return { evidence, isComplete: false };
        const late = abortedLater(signal, MAX_LATE_ANSWER_MS);
        try {
          const ask = (values: JudgeValues): Promise<string> =>
            askCounted(deps, { taskId, values, cancelled: signal, signal: late.signal });
          const found = await judgeClaim(ask, claim, page);
          if (found !== undefined) evidence.push({ claim: claim.n, source, kind: "page", judged: true, ...found });
        } catch (error) {
          if (signal.aborted || error instanceof RunDeleted) return { evidence, isComplete: false };
          logUnjudged(deps.log, taskId, error);
        } finally {
          late.dispose();
        }
      }
      return { evidence, isComplete: true };
    },
  };
}

/** A signal that is aborted some time after another one. */
function abortedLater(signal: AbortSignal, ms: number): { signal: AbortSignal; dispose: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => controller.abort(signal.reason), ms);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const dispose = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, dispose };
}

class RunDeleted extends Error {}

interface Asked {
  taskId: JudgeRequest["taskId"];
  values: JudgeValues;
  /** Once aborted, nothing more is sent. */
  cancelled: AbortSignal;
  /** Ends the wait for an answer. */
  signal: AbortSignal;
}

/** Google does not charge for requests that it refuses for one of these reasons. */
const UNCHARGED = new Set<FailureReason | undefined>([
  "auth",
  "config",
  "billing",
  "location",
  "credentials",
  "blocked",
  "input",
  "rate_limit",
]);

/** A request that failed is not repeated: the verdict of the text comparison is kept. */
async function askCounted(deps: JudgeDeps, { taskId, values, cancelled, signal }: Asked): Promise<string> {
  const prompt = deps.promptFor(values);
  if (!(await countJudgeRequest(deps.db, taskId))) throw new RunDeleted();
  if (cancelled.aborted) {
    await countUncharged(deps.db, taskId);
    throw cancelledCall();
  }
  const counted = (counting: Promise<void>): Promise<void> =>
    // The judgement is paid for and is kept; its cost stays unknown.
    counting.catch((error: unknown) =>
      deps.log.forRun(taskId).warn(`A judge's usage was not stored: ${textOf(error)}`),
    );
  try {
    const answer = await deps.send(prompt, { signal, maxOutputTokens: maxOutputTokens(deps.model) });
    await counted(count(deps, taskId, answer));
    return answer.text;
  } catch (error) {
    if (error instanceof PaidFailure) await counted(count(deps, taskId, error.answer));
    else if (error instanceof AppError && UNCHARGED.has(error.reason)) await counted(countUncharged(deps.db, taskId));
    throw error;
  }
}

const countUncharged = (db: Database, taskId: string): Promise<void> =>
  addJudgeUsage(db, taskId, { input: 0, output: 0, costUsd: 0 });

async function count({ db, clock, costOf }: JudgeDeps, taskId: string, { usage, model }: Answer): Promise<void> {
  const { usd, incomplete } = costOf(usage, model, clock.now());
  // An answer without figures was charged all the same.
  const isKnown = !incomplete && usage.input + usage.output > 0;
  const costUsd = isKnown ? usd : undefined;
  await addJudgeUsage(db, taskId, { input: usage.input, output: usage.output, costUsd });
}

function logUnjudged(log: Log, taskId: string, error: unknown): void {
  log.forRun(taskId).warn(`A citation was not judged: ${textOf(error)}`);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");

// Asks a small model whether a page supports a claim. It must quote; a quote that is not on the page, or whose numbers, dates or polarity disagree with the claim, supports nothing.

export interface Judgement {
  verdict: Extract<Verdict, "likely" | "conflict" | "not_found">;
  /** A passage that is on the page. */
  passage?: string | undefined;
  reason?: string | undefined;
}

/** What the prompt is filled with. */
export interface JudgeValues {
  claim: string;
  passages: string;
}

/** Sends the prompt to the model and returns its text. */
export type AskJudge = (values: JudgeValues) => Promise<string>;

/** The form of an answer, shown in the prompt. */
export const JUDGE_EXAMPLE = '{ "verdict": "supported", "quote": "the words of the passage that decide" }';

const MAX_PASSAGE_CHARACTERS = 800;
/** A page up to this length is sent as a whole, so that the judge can find that it does not say something. */
const MAX_WHOLE_PAGE_CHARACTERS = 5_000;
const MIN_QUOTE_CHARACTERS = 8;
/** A longer sentence is not judged: the price of a request is bounded. */
const MAX_CLAIM_CHARACTERS = 2_000;
/** The whole page, or the passages with the lines between them. */
const MAX_PASSAGES_CHARACTERS = Math.max(
  MAX_WHOLE_PAGE_CHARACTERS,
  MAX_PASSAGES * (MAX_PASSAGE_CHARACTERS + "\n\n".length),
);

const answerSchema = z.object({
  verdict: z.enum(["supported", "weak", "contradicted", "unsupported"]),
  quote: z.string().default(""),
});

/** A part of a claim is not the claim. */
const MEANT = { supported: "likely", weak: "not_found", contradicted: "conflict" } as const;

/** Undefined if the answer cannot be used: then the verdict of the text comparison is kept. */
export async function judgeClaim(ask: AskJudge, claim: OpenClaim, page: PageText): Promise<Judgement | undefined> {
  const whole = [page.title, ...page.blocks].join("\n");
  const isWhole = whole.length <= MAX_WHOLE_PAGE_CHARACTERS;
  const passages = isWhole ? whole : passagesOf(claim);
  if (passages.trim() === "") return undefined;
  const subject = [...claim.headings.slice(-1), ...claim.context, claim.text].join(" › ");
  if (subject.length > MAX_CLAIM_CHARACTERS) return undefined;
  const answer = answerIn(await ask({ claim: subject, passages }));
  if (answer === undefined) return undefined;
  const quote = answer.quote.trim();
  if (answer.verdict === "unsupported") {
    if (isWhole)
      return { verdict: "not_found", reason: "The judge read the page and found that it does not say this." };
    return { verdict: "not_found", reason: "The judge did not find it in the passages that are closest to it." };
  }
  if (!isOnPage(quote, page)) return { verdict: "not_found", reason: "The judge quoted text that is not on the page." };
  const veto = answer.verdict === "contradicted" ? undefined : disagreement(claim.text, quote);
  if (veto !== undefined && answer.verdict === "supported") {
    return { verdict: "not_found", passage: quote, reason: veto };
  }
  return { verdict: MEANT[answer.verdict], passage: quote, reason: veto };
}

const passagesOf = ({ passages }: OpenClaim): string =>
  passages
    .slice(0, MAX_PASSAGES)
    .map((passage) => passage.slice(0, MAX_PASSAGE_CHARACTERS).toWellFormed())
    .join("\n\n");

/** The last JSON object in the answer that has the right form. */
function answerIn(text: string): z.infer<typeof answerSchema> | undefined {
  const objects = [...text.matchAll(/\{[^{}]*\}/g)].map(([object]) => object);
  for (const object of objects.toReversed()) {
    try {
      const parsed = answerSchema.safeParse(JSON.parse(object));
      if (parsed.success) return parsed.data;
    } catch {
      // Not JSON.
    }
  }
  return undefined;
}

/** Spelling that a model changes when it quotes. */
const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\u2018\u2019\u201B\u2032]/g, "'")
    .replaceAll(/[\u201C\u201D\u00AB\u00BB\u201E\u201F]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/\s+/g, " ")
    .trim();

const plainBlocks = new WeakMap<PageText, string[]>();

/** Whole words of one block: a menu item and the heading after it are no sentence. */
function isOnPage(quote: string, page: PageText): boolean {
  const wanted = plain(quote);
  if (wanted.length < MIN_QUOTE_CHARACTERS) return false;
  const blocks = plainBlocks.get(page) ?? [page.title, ...page.blocks].map(plain);
  plainBlocks.set(page, blocks);
  return blocks.some((block) => hasWords(block, wanted));
}

function hasWords(block: string, wanted: string): boolean {
  for (let at = block.indexOf(wanted); at !== -1; at = block.indexOf(wanted, at + 1)) {
    if (isEdge(block[at - 1], wanted[0]) && isEdge(block[at + wanted.length], wanted.at(-1))) return true;
  }
  return false;
}

/** A letter or digit; scripts without spaces between words have no such edges. */
const WORD = /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}]/u;

/** Whether a word ends between these two characters. */
const isEdge = (outside = "", inside = ""): boolean => !WORD.test(outside) || !WORD.test(inside);

// What requests to the judge cost: likely, and at most.

/** Derived: the prompt with five passages, and a short answer with some thinking. */
const LIKELY_TOKENS = { input: 1_400, output: 250 };

/** Thinking counts as output. Enough for the thoughts of a small model and an answer of 60 words. */
const MAX_OUTPUT_TOKENS = 8_192;

/** A model that needs more room for its thoughts gets it, and its price follows. */
export const maxOutputTokens = (model: string): number => requiredOutputTokens(model) ?? MAX_OUTPUT_TOKENS;

/** Begin and end of a turn and the like, which Google adds. */
const ADDED_TOKENS = 100;

/** Three bytes in UTF-8, the maximum per UTF-16 unit. */
const WIDEST_CHARACTER = "\u20AC";

/** A token stands for at least one byte, so no prompt has more tokens than bytes, whatever it is filled with. */
export function maxInputTokens(promptFor: (values: JudgeValues) => string): number {
  const longest = promptFor({
    claim: WIDEST_CHARACTER.repeat(MAX_CLAIM_CHARACTERS),
    passages: WIDEST_CHARACTER.repeat(MAX_PASSAGES_CHARACTERS),
  });
  return Buffer.byteLength(longest) + ADDED_TOKENS;
}

interface PricedModel {
  costOf: CostOf;
  model: string;
}

/** The likely price; undefined without a price of the model. */
export const estimateUsd = (requests: number, { now, ...priced }: PricedModel & { now: number }): number | undefined =>
  usdOf(LIKELY_TOKENS, priced, { requests, at: now });

/** Undefined without a listed price of the model. Prices change at midnight, so the higher one of a day counts. */
export function judgePrice(
  requests: number,
  { promptFor, ...priced }: PricedModel & { promptFor: (values: JudgeValues) => string },
  now: number,
): JudgePrice | undefined {
  const likelyUsd = estimateUsd(requests, { ...priced, now });
  const longest = { input: maxInputTokens(promptFor), output: maxOutputTokens(priced.model) };
  const [today, tomorrow] = [now, now + DAY_MS].map((at) => usdOf(longest, priced, { requests, at }));
  if (likelyUsd === undefined || today === undefined || tomorrow === undefined) return undefined;
  return { likelyUsd, maxUsd: Math.max(today, tomorrow) };
}

const DAY_MS = 86_400_000;

function usdOf(
  tokens: { input: number; output: number },
  { costOf, model }: PricedModel,
  { requests, at }: { requests: number; at: number },
): number | undefined {
  const { usd, incomplete, estimated } = costOf({ ...NO_USAGE, ...tokens }, model, at);
  // The price of the model's family is no bound.
  return incomplete || estimated || usd === undefined ? undefined : usd * requests;
}
