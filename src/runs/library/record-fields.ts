/** Fields of archived records: each value as a record has it, and, cleaned, as its row has it. */

import { z } from "zod";
import { cleanText, cleanValue } from "../../platform/clean-text.ts";
import { isoTime } from "../../platform/clock.ts";
import { storable } from "../../store/database.ts";

const textUpTo = (maxCharacters: number) =>
  z.codec(z.string().max(maxCharacters), z.string(), {
    decode: (given) => storable(cleanText(given)),
    encode: (own) => own,
  });

/** Lists show a page of such texts. */
export const text = textUpTo(100_000);

/** Answers to a question have up to 10 MB. */
export const longText = textUpTo(10_000_000);

export const flag = z.codec(z.boolean(), z.literal([0, 1]), {
  decode: (isSet) => (isSet ? 1 : 0),
  encode: (own) => own === 1,
});

export const time = z.codec(z.iso.datetime(), z.int(), { decode: (given) => Date.parse(given), encode: isoTime });

/** What PostgreSQL's `integer` holds. */
export const whole = z.int32();

/** JSON, which a row has as text. */
export const json = <Schema extends z.ZodType>(schema: Schema) =>
  z.codec(schema, z.string(), {
    decode: (given) => storable(JSON.stringify(cleanValue<unknown>(given))),
    encode: (own): z.output<Schema> => JSON.parse(own),
  });

/** Rows without two of one key. */
export const rowsOf = <Row extends z.ZodType>(row: Row, key: (row: z.output<Row>) => unknown) =>
  z.array(row).refine((rows) => new Set(rows.map((each) => String(key(each)))).size === rows.length);
