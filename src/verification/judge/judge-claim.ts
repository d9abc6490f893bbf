/**
 * Asks a small model whether a page supports a claim. It must quote; a quote that is not on the page, or whose numbers,
 * dates or polarity disagree with the claim, supports nothing.
 */

import { z } from "zod";
import { disagreement } from "../../claims/disagreement.ts";
import type { Verdict } from "../../claims/evidence.ts";
import type { PageText } from "../../pages/page.ts";
import { MAX_PASSAGES, type OpenClaim } from "./judge-port.ts";

export interface Judgement {
  verdict: Extract<Verdict, "supported" | "weak" | "contradicted" | "unsupported" | "not_confirmed">;
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
export const MAX_CLAIM_CHARACTERS = 2_000;
/** The whole page, or the passages with the lines between them. */
export const MAX_PASSAGES_CHARACTERS = Math.max(
  MAX_WHOLE_PAGE_CHARACTERS,
  MAX_PASSAGES * (MAX_PASSAGE_CHARACTERS + "\n\n".length),
);

const answerSchema = z.object({
  verdict: z.enum(["supported", "weak", "contradicted", "unsupported"]),
  quote: z.string().default(""),
});

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
      return { verdict: "unsupported", reason: "The judge read the page and found that it does not say this." };
    return { verdict: "not_confirmed", reason: "The judge did not find it in the passages that are closest to it." };
  }
  if (!isOnPage(quote, page))
    return { verdict: "not_confirmed", reason: "The judge quoted text that is not on the page." };
  const veto = answer.verdict === "contradicted" ? undefined : disagreement(claim.text, quote);
  if (veto !== undefined && answer.verdict === "supported") {
    return { verdict: "not_confirmed", passage: quote, reason: veto };
  }
  return { verdict: answer.verdict, passage: quote, reason: veto };
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
