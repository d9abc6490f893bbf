/** Reads date and author as a page states them (JSON-LD, meta elements, time elements), and whether it is free to read. */

import { isRecord } from "../../platform/is-record.ts";
import type { Attributes } from "./block-writer.ts";

export interface PageFacts {
  date?: string | undefined;
  author?: string | undefined;
  /** As JSON-LD states it. */
  isFree?: boolean | undefined;
  socialTitle?: string | undefined;
}

const DATE_NAME =
  /^(?:article:published_time|(?:citation_(?:publication_)?)?date|datepublished|dc(?:terms)?\.(?:date|issued|created)|parsely-pub-date)$/;
const AUTHOR_NAME = /^(?:(?:article:|citation_|parsely-)?author|dc(?:terms)?\.creator)$/;
const MAX_FACT_CHARACTERS = 200;
const MAX_JSON_CHARACTERS = 500_000;

/** In the order of preference: JSON-LD, meta elements, time elements; of one kind the first. */
export function createFactReader() {
  const stated = { meta: {} as PageFacts, linked: {} as PageFacts, time: undefined as string | undefined };
  return {
    meta(attributes: Attributes): void {
      const name = (attributes["name"] ?? attributes["property"] ?? attributes["itemprop"] ?? "").toLowerCase();
      const content = attributes["content"];
      if (DATE_NAME.test(name)) stated.meta.date ??= dateIn(content);
      if (AUTHOR_NAME.test(name)) stated.meta.author ??= authorIn(content);
      if (name === "og:title") stated.meta.socialTitle ??= fact(content);
    },
    time(attributes: Attributes): void {
      stated.time ??= dateIn(attributes["datetime"]);
    },
    jsonLd(text: string): void {
      if (text.length > MAX_JSON_CHARACTERS) return;
      try {
        JSON.parse(text, (key, value: unknown) => {
          if (key === "datePublished") stated.linked.date ??= dateIn(value);
          if (key === "author") stated.linked.author ??= authorIn(value);
          if (key === "isAccessibleForFree" && /^false$/i.test(String(value))) stated.linked.isFree = false;
          return value;
        });
      } catch {
        // Damaged JSON-LD states nothing.
      }
    },
    facts: (): PageFacts => ({
      ...stated.meta,
      date: stated.linked.date ?? stated.meta.date ?? stated.time,
      author: stated.linked.author ?? stated.meta.author,
      isFree: stated.linked.isFree,
    }),
  };
}

function authorIn(value: unknown): string | undefined {
  const people = Array.isArray(value) ? value.slice(0, 5) : [value];
  const names = people.map((person) => fact(isRecord(person) ? person["name"] : person));
  return fact(names.filter((name) => name !== undefined && !/^https?:/i.test(name)).join(", "));
}

/** Only what contains a year: some pages state "today". */
function dateIn(value: unknown): string | undefined {
  const text = fact(value);
  return text !== undefined && /\b(?:19|20)\d\d/.test(text) ? text.slice(0, 40) : undefined;
}

const fact = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value.replaceAll(/\s+/g, " ").trim().slice(0, MAX_FACT_CHARACTERS) || undefined
    : undefined;
