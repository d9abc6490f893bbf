/** What the server accepted of a model's check of a claim, kept from round to round. */

import { z } from "zod";
import { VERDICTS } from "../../claims/evidence.ts";

export const findingSchema = z.object({
  /** `claimKey` of the claim: a claim that the next round words differently is another one. */
  claim: z.string(),
  url: z.string(),
  verdict: z.enum(VERDICTS),
  /** A sentence of this program, for the next round and for the reader. */
  reason: z.string().optional(),
  /** The passage as the model quoted it; text from the web. */
  quote: z.string().optional(),
});

export type Finding = z.infer<typeof findingSchema>;
