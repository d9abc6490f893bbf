/** What a reader must know about the verification of a `deep_search`, beside its counts. */

import type { Verification } from "../../reports/verification.ts";

const NOT_VERIFIED = "Verification was not completed within the allowed rounds; this is the best result obtained.";

const MAX_QUOTED_CLAIMS = 3;
const MAX_CLAIM_CHARACTERS = 90;

interface Verified {
  verified: boolean;
  verification: Verification;
  /** Claims that carry the answer without being supported. */
  open: readonly string[];
}

/** None if the result was verified and every claim that carries it is supported. */
export const verificationNotes = (result: Verified): (string | undefined)[] => [
  result.verified ? undefined : NOT_VERIFIED,
  openNote(result),
];

function openNote({ verified, verification, open }: Verified): string | undefined {
  if (open.length === 0) return undefined;
  if (verification.method === "none") {
    return verified
      ? "Gemini called the result verified, but no claim was checked against the page it cites."
      : undefined;
  }
  const claims = open.length === 1 ? "1 claim that carries it is" : `${open.length} claims that carry it are`;
  const quoted = `${claims} not supported by a page that was opened: ${quotedClaims(open)}.`;
  return verified ? `Gemini called the result verified, but ${quoted}` : `Of the result, ${quoted}`;
}

function quotedClaims(open: readonly string[]): string {
  const quoted = open.slice(0, MAX_QUOTED_CLAIMS).map((claim) => `"${shortened(claim.replaceAll(/\s+/g, " "))}"`);
  const others = open.length - quoted.length;
  return others === 0 ? quoted.join(", ") : `${quoted.join(", ")} and ${others} more`;
}

function shortened(claim: string): string {
  if (claim.length <= MAX_CLAIM_CHARACTERS) return claim.replace(/[.。]$/, "");
  return `${claim.slice(0, MAX_CLAIM_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
