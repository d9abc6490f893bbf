/** Defines what a setting is, and the schemas that settings share. */

import { z } from "zod";

export const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
export const text = () => z.string().trim().min(1).optional();
export const list = () =>
  z.string().transform((value) =>
    value
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ""),
  );
/** Placeholders of examples, and references that clients pass on unexpanded if the variable is not set. */
const NO_SECRET = /^(?:|YOUR_API_KEY_HERE|\$\w+|\$\{[\w:-]+\})$/;
export const url = () => z.url({ protocol: /^https?$/ }).optional();
export const secret = () =>
  z
    .string()
    .trim()
    .optional()
    .transform((value) => (value === undefined || NO_SECRET.test(value) ? undefined : value));

export interface Setting<T> {
  /** Built only for a value that is set: all of them together take milliseconds of every start. */
  schema: () => z.ZodType<T>;
  /** The value if nothing is set, as printed in the reference. */
  default: T;
  about: string;
  /** Other names, read if the first is not set. */
  aliases?: readonly string[];
  flag?: string;
  /** What is accepted, as a sentence for the warning about an invalid value. */
  choices?: string;
  /** The value is JSON: in config.json it may be written as an object. */
  isJson?: boolean;
}

export const setting = <T>(value: Setting<T>): Setting<T> => value;

/** A setting that is undefined unless it is set. */
export const optional = <T = string>(value: Omit<Setting<T | undefined>, "default">): Setting<T | undefined> => ({
  ...value,
  default: undefined,
});
