/** Parses a run's stored estimate of cost and duration leniently, because earlier versions stored other fields. */

import { z } from "zod";

const figure = z.number().optional().catch(undefined);
const range = z.object({ min: figure, likely: figure, max: figure }).optional().catch(undefined);
const stored = z.object({ usd: range, minutes: range }).catch({});

export type RunEstimate = z.infer<typeof stored>;

export const estimateOf = (estimate: unknown): RunEstimate => stored.parse(estimate);
