/**
 * A model's answers about single claims, read leniently (an entry that cannot be read is left out), and what the server
 * accepted of them, kept from round to round.
 */

import { z } from "zod";
import { oneLine } from "../../platform/clean-text.ts";
import { VERDICTS } from "../../claims/evidence.ts";

/** What the model concluded about a claim after it had opened a page. */
const MODEL_VERDICTS = ["supported", "weak", "contradicted", "unsupported", "unreadable"] as const;
type ModelVerdict = (typeof MODEL_VERDICTS)[number];

export interface Check {
  /** Number of the claim in the list that the model was given, or the first words of a sentence that it wrote. */
  claim: number | string;
  verdict: ModelVerdict;
  /** Number of the page in that list, or its URL. */
  page: number | string | undefined;
  /** The passage of the page, as the model quoted it. */
  quote: string;
}

/** A round lists far fewer claims; the rest of a longer list is ignored. */
const MAX_CHECKS = 100;
const MAX_QUOTE_CHARACTERS = 600;
/** Fewer could begin several sentences. */
const MIN_CLAIM_CHARACTERS = 12;
const MAX_CLAIM_CHARACTERS = 2_000;

const wholeNumber = z
  .union([z.int(), z.string().regex(/^#?\d{1,4}$/)])
  .transform((n) => Number(String(n).replace("#", "")));

const check = z
  .looseObject({
    claim: z.union([wholeNumber, z.string().min(MIN_CLAIM_CHARACTERS).max(MAX_CLAIM_CHARACTERS)]),
    verdict: z
      .string()
      .transform((word) => word.trim().toLowerCase())
      .pipe(z.enum(MODEL_VERDICTS)),
    page: z.unknown().optional(),
    url: z.unknown().optional(),
    quote: z.string().catch(""),
  })
  .transform(({ claim, verdict, page, url, quote }): Check => {
    const cleaned = oneLine(quote.slice(0, 2 * MAX_QUOTE_CHARACTERS)).slice(0, MAX_QUOTE_CHARACTERS);
    return { claim, verdict, page: pageOf(page) ?? pageOf(url), quote: cleaned.toWellFormed() };
  });

function pageOf(value: unknown): number | string | undefined {
  const n = wholeNumber.safeParse(value).data;
  if (n !== undefined) return n;
  return typeof value === "string" && URL.canParse(value) ? value : undefined;
}

/** The readable entries of the field `checks`; none if the model did not answer it, or in another form. */
export const checksField = z
  .array(z.unknown())
  .catch([])
  .default([])
  .transform((items) => items.slice(0, MAX_CHECKS).flatMap((item) => check.safeParse(item).data ?? []));

export const findingSchema = z.object({
  /** `claimKey` of the claim: a claim that the next round words differently is another one. */
  claim: z.string(),
  url: z.string(),
  verdict: z.enum(VERDICTS),
  /** A sentence of this program, for the next round and for the reader. */
  reason: z.string().optional(),
  /** The passage as the model quoted it; text from the web. */
  quote: z.string().optional(),
  /** In a conflict: what the quoted passage says instead. */
  says: z.string().optional(),
});

export type Finding = z.infer<typeof findingSchema>;
