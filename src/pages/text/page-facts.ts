/** Reads date and author as a page states them (meta elements, JSON-LD, time elements), and whether it is free to read. */

import { isRecord } from "../../platform/is-record.ts";
import type { Attributes } from "./block-writer.ts";

export interface PageFacts {
  date?: string | undefined;
  author?: string | undefined;
  /** As JSON-LD states it. */
  isFree?: boolean | undefined;
  socialTitle?: string | undefined;
}

const DATE_NAMES = [
  "article:published_time",
  "datepublished",
  "date",
  "dc.date",
  "dc.date.issued",
  "dcterms.issued",
  "dcterms.created",
  "citation_publication_date",
  "citation_date",
  "parsely-pub-date",
  "pubdate",
];
const AUTHOR_NAMES = ["author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author"];
const MAX_FACT_CHARACTERS = 200;
const MAX_JSON_CHARACTERS = 500_000;

/** In the order of preference: JSON-LD, meta elements, time elements; of one kind the first. */
export function createFactReader() {
  const stated = { meta: {} as PageFacts, linked: {} as PageFacts, time: undefined as string | undefined };
  return {
    meta(attributes: Attributes): void {
      const name = (attributes["name"] ?? attributes["property"] ?? attributes["itemprop"] ?? "").toLowerCase();
      const content = fact(attributes["content"]);
      if (content === undefined) return;
      if (DATE_NAMES.includes(name)) stated.meta.date ??= dateIn(content);
      if (AUTHOR_NAMES.includes(name)) stated.meta.author ??= authorIn(content);
      if (name === "og:title") stated.meta.socialTitle ??= content;
    },
    time(attributes: Attributes): void {
      stated.time ??= dateIn(attributes["datetime"]);
    },
    jsonLd(text: string): void {
      if (text.length > MAX_JSON_CHARACTERS) return;
      try {
        readNodes(JSON.parse(text), stated.linked);
      } catch {
        // Damaged JSON-LD states nothing.
      }
    },
    facts: (): PageFacts => ({
      date: stated.linked.date ?? stated.meta.date ?? stated.time,
      author: stated.linked.author ?? stated.meta.author,
      isFree: stated.linked.isFree,
      socialTitle: stated.meta.socialTitle,
    }),
  };
}

/** The node itself, the items of a list, and those of `@graph`. */
function readNodes(value: unknown, facts: PageFacts): void {
  const nodes = Array.isArray(value) ? value : [value];
  for (const node of nodes.slice(0, 200)) {
    if (!isRecord(node)) continue;
    facts.date ??= dateIn(node["datePublished"]);
    facts.author ??= authorIn(node["author"]);
    const free = node["isAccessibleForFree"];
    if (free === false || /^false$/i.test(String(free))) facts.isFree = false;
    const graph = node["@graph"];
    for (const inner of Array.isArray(graph) ? graph.slice(0, 200) : []) {
      if (isRecord(inner)) readNodes({ ...inner, "@graph": undefined }, facts);
    }
  }
}

function authorIn(value: unknown): string | undefined {
  const people = Array.isArray(value) ? value.slice(0, 5) : [value];
  const names = people.map((person) => fact(isRecord(person) ? person["name"] : person));
  const real = names.filter((name) => name !== undefined && !/^https?:/i.test(name));
  return real.length === 0 ? undefined : real.join(", ").slice(0, MAX_FACT_CHARACTERS);
}

/** Only what contains a year: some pages state "today". */
function dateIn(value: unknown): string | undefined {
  const text = fact(value);
  return text !== undefined && /\b(?:19|20)\d\d/.test(text) ? text.slice(0, 40) : undefined;
}

function fact(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replaceAll(/\s+/g, " ").trim().slice(0, MAX_FACT_CHARACTERS);
  return text === "" ? undefined : text;
}
