/** Reads JSON that this program has stored. */

import { z } from "zod";

/** JSON of any fields, such as options and metadata. */
export const anyRecord = z.record(z.string(), z.unknown());

export const storedJson = <Value>(json: string, schema: z.ZodType<Value>): Value => schema.parse(JSON.parse(json));
