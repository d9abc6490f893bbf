/** How many claims of a deep search were confirmed: as it is stored, and as one line on every surface. */

import { z } from "zod";

/**
 * How the pages of the claims were opened: `url_context` by Google, which reports success for each page; `cli_tools` by
 * the Gemini CLI, whose record names the pages that it read. With `none` no claim was checked against its page, so that
 * only the model's word is left.
 */
export const VERIFICATION_METHODS = ["url_context", "cli_tools", "none"] as const;
export type VerificationMethod = (typeof VERIFICATION_METHODS)[number];

export const verificationSchema = z.looseObject({
  method: z.enum(VERIFICATION_METHODS),
  claims: z.number(),
  likely: z.number(),
  conflict: z.number(),
  not_found: z.number(),
  unreadable: z.number(),
  uncited: z.number(),
  /** Sites, by the public suffix list, with a page that supports a claim. */
  independent_domains: z.number(),
});

export type Verification = z.infer<typeof verificationSchema>;

const PARTS = [
  ["conflict", "in conflict"],
  ["likely", "likely"],
  ["not_found", "not found"],
  ["unreadable", "on unreadable pages"],
  ["uncited", "uncited"],
] as const satisfies [keyof Verification, string][];

/** `12 claims: 9 likely, 2 not found, 1 uncited; 4 independent domains`. */
export function verificationLine(verification: Verification): string {
  const { claims, method, independent_domains: domains } = verification;
  const total = claims === 1 ? "1 claim" : `${claims} claims`;
  const parts = PARTS.flatMap(([name, words]) => {
    const text = method === "none" && name === "not_found" ? "not checked" : words;
    return verification[name] === 0 ? [] : [`${verification[name]} ${text}`];
  });
  const sites = domains === 1 ? "1 independent domain" : `${domains} independent domains`;
  return `${[total, ...(parts.length === 0 ? [] : [parts.join(", ")])].join(": ")}; ${sites}`;
}
