/** The subject of a question to the user: what a yes to it agrees to. */

import { z } from "zod";

export const subjectSchema = z.object({
  operation: z.string(),
  /** `hashOfInput` of the call. */
  input: z.string(),
  /** The run that is decided on. */
  run: z.string().optional(),
  /** What that id stood for: the plan that waits for approval, or the unknown start that is sent again. */
  current: z.string().optional(),
  /** The maximum price; undefined if it is unknown. */
  max_usd: z.number().optional(),
});

export type Subject = z.output<typeof subjectSchema>;

/** The terms of a follow-up are shown before its question is typed, which adds a fraction of a cent. */
const NEGLIGIBLE_USD = 0.01;

/** Whether a yes to one question also answers another: it is about the same, and the maximum price has not risen. */
export function covers(agreed: Subject | undefined, asked: Subject): boolean {
  if (agreed === undefined) return false;
  const { max_usd: agreedUsd = Infinity } = agreed;
  const { max_usd: askedUsd = Infinity } = asked;
  return COMPARED.every((field) => agreed[field] === asked[field]) && askedUsd <= agreedUsd + NEGLIGIBLE_USD;
}

const COMPARED = ["operation", "input", "run", "current"] as const;
