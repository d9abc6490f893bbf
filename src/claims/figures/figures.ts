/** Reads the dates and amounts of a text; what is left are its words. */

import { languageOf } from "../language.ts";
import { type DateMention, datesIn } from "./dates.ts";
import { quantitiesIn, type Quantity } from "./quantities.ts";

export interface Figures {
  dates: DateMention[];
  quantities: Quantity[];
  /** The text as it was read. */
  text: string;
  /** The text with spaces in the place of dates, times and amounts. */
  rest: string;
}

/** After a preposition or with its zone; otherwise it may be a duration or a score. */
const TIME_OF_DAY =
  /(?:(?<=\b(?:at|around|um|gegen|à|vers)\s)(?:[01]?\d|2[0-3]):[0-5]\d|\b(?:[01]?\d|2[0-3]):[0-5]\d(?=\s?(?:UTC|GMT|CES?T|[ap]\.?m\b|Uhr|h\b)))(?:\s?(?:UTC|GMT|CES?T|[ap]\.?m\b\.?|Uhr|h\b))?/giu;

export function figuresIn(written: string, language = languageOf(written) ?? "en"): Figures {
  const text = written
    .normalize("NFKC")
    .replaceAll(/[‘’‛ʼ]/gu, "'")
    .replaceAll(/\s+/gu, " ");
  const dates = datesIn(text);
  const withoutDates = mask(text, dates);
  const times = [...withoutDates.matchAll(TIME_OF_DAY)].map(({ 0: time, index: start }) => ({
    start,
    end: start + time.length,
  }));
  const masked = mask(withoutDates, times);
  const quantities = quantitiesIn(masked, language);
  return { dates, quantities, text, rest: mask(masked, quantities) };
}

/** Spaces in the place of what was read already, so that positions stay. */
function mask(text: string, ranges: readonly { start: number; end: number }[]): string {
  let masked = "";
  let copied = 0;
  for (const { start, end } of ranges) {
    masked += text.slice(copied, start) + " ".repeat(Math.max(0, end - start));
    copied = end;
  }
  return masked + text.slice(copied);
}
