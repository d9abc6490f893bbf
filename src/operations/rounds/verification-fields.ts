/** The verification of a stored result, as answers return it. */

import { storedVerification, type Verification, verificationLine } from "../../reports/verification.ts";
import type { RunResult } from "../../runs/run.ts";

interface VerificationFields {
  verified?: boolean;
  verified_in_round?: number;
  verification?: Verification;
  note?: string;
}

const HAS_EARLIER = "Google also wrote texts before this report: ask for section earlier to read them.";

export function verificationFields({ metadata }: RunResult, more: (string | undefined)[]): VerificationFields {
  const { verified, verified_in_round: round } = metadata;
  const verification = storedVerification(metadata);
  const earlier = metadata["earlier_outputs"] === undefined ? undefined : HAS_EARLIER;
  const notes = [metadata["note"], earlier, ...more].filter((note) => typeof note === "string");
  return {
    ...(typeof verified === "boolean" ? { verified } : {}),
    ...(typeof round === "number" ? { verified_in_round: round } : {}),
    ...(verification === undefined ? {} : { verification }),
    ...(notes.length > 0 ? { note: notes.join(" ") } : {}),
  };
}

/** With the method, because a client may show its model only the text. */
export const verificationText = (verification: Verification | undefined): string | undefined =>
  verification === undefined ? undefined : `${verificationLine(verification)} (method: ${verification.method})`;
