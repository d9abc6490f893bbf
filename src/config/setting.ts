/** What a setting is, and the kinds of values that settings take. */

import { z } from "zod";

export const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
export const text = z.string().trim().min(1).optional();
export const list = z.string().transform((value) =>
  value
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ""),
);
/** What examples hold, and the references that clients pass on as they stand when the variable is not set. */
const NO_SECRET = /^(?:|YOUR_API_KEY_HERE|\$\w+|\$\{[\w:-]+\})$/;
export const url = z.url({ protocol: /^https?$/ }).optional();
export const secret = z
  .string()
  .trim()
  .optional()
  .transform((value) => (value === undefined || NO_SECRET.test(value) ? undefined : value));

export interface Setting<T> {
  schema: z.ZodType<T>;
  /** The value when nothing is set, as the reference prints it. */
  default: T;
  about: string;
  /** Other names that are read when the first is not set. */
  aliases?: readonly string[];
  flag?: string;
}

export const setting = <T>(value: Setting<T>): Setting<T> => value;
