/** The fields in which every answer states a cost. */

import { z } from "zod";

export const costSchema = {
  cost_usd: z.number().optional().describe("At list prices; absent when no price is known."),
  cost_incomplete: z.boolean().optional().describe("True when a part has no price: cost_usd is a lower bound."),
  cost_estimated: z
    .boolean()
    .optional()
    .describe("True when a model was not in the price list and its family's highest price was used."),
};
