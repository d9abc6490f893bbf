/** Bibliography files of a report's sources: BibTeX, RIS and CSL-JSON. */

import { isoTime } from "../../platform/clock.ts";
import type { BibliographyFormat } from "./bibliography-formats.ts";
import { linkExpiry } from "../link-expiry.ts";
import { onOneLine } from "../report-facts.ts";
import { isRedirect, type Source } from "../report.ts";
import { webUrl } from "../web-address.ts";

const WRITERS: Record<BibliographyFormat, (items: CslItem[]) => string> = {
  bibtex: (items) => items.map(bibtexEntry).join("\n"),
  ris: (items) => items.map(risRecord).join("\r\n"),
  csl: (items) => `${JSON.stringify(items, null, 2)}\n`,
};

export const bibliography = (cited: CitedSources, format: BibliographyFormat): string =>
  WRITERS[format](cslItems(cited));

/**
 * Characters that TeX acts on; the rest is UTF-8, which biblatex and current BibTeX read. Braces become parentheses:
 * BibTeX counts them even after a backslash, so that one of them could end the field.
 */
const TEX: Readonly<Record<string, string>> = {
  "\\": String.raw`\textbackslash{}`,
  "~": String.raw`\textasciitilde{}`,
  "^": String.raw`\textasciicircum{}`,
  "{": "(",
  "}": ")",
};
const tex = (text: string): string =>
  text.replaceAll(/[\\~^{}$&%#_]/g, (character) => TEX[character] ?? `\\${character}`);

/** Addresses are read verbatim, so braces, which would end the field, are encoded. */
const texUrl = (url: string): string => url.replaceAll(/[{}\\]/g, encodeURIComponent);

function bibtexEntry(item: CslItem): string {
  const [author] = item.author ?? [];
  const fields: [name: string, value: string | undefined][] = [
    // The second pair of braces keeps upper case, and a name with commas whole.
    ["title", `{${tex(item.title)}}`],
    ["author", author === undefined ? undefined : `{${tex(author.literal)}}`],
    ["organization", item["container-title"] === undefined ? undefined : tex(item["container-title"])],
    ["date", item.issued === undefined ? undefined : isoDate(item.issued)],
    ["url", item.URL === undefined ? undefined : texUrl(item.URL)],
    ["urldate", isoDate(item.accessed)],
    ["note", item.note === undefined ? undefined : tex(item.note)],
  ];
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name} = {${value}},`]));
  return `@online{${item.id},\n${lines.join("\n")}\n}\n`;
}

/** Tag, two spaces, hyphen, space, value; records end with ER. */
function risRecord(item: CslItem): string {
  const fields: [tag: string, value: string | undefined][] = [
    ["TY", "ELEC"],
    ["ID", item.id],
    ["TI", item.title],
    ["AU", item.author?.[0]?.literal],
    ["PB", item["container-title"]],
    ["DA", item.issued === undefined ? undefined : isoDate(item.issued).replaceAll("-", "/")],
    ["PY", item.issued === undefined ? undefined : String(item.issued["date-parts"][0][0])],
    ["UR", item.URL],
    ["Y2", isoDate(item.accessed).replaceAll("-", "/")],
    ["N1", item.note],
    ["ER", ""],
  ];
  return fields.flatMap(([tag, value]) => (value === undefined ? [] : [`${tag}  - ${value}\r\n`])).join("");
}

// The sources of a report as CSL-JSON, from which the other bibliography formats are written.

/** What a page said about itself when it was read. */
interface PageFacts {
  date?: string | undefined;
  author?: string | undefined;
  checkedAt: number;
}

export interface CitedSources {
  taskId: string;
  sources: readonly Source[];
  /** By number of the source, for pages that were read. */
  pages?: ReadonlyMap<number, PageFacts> | undefined;
  /** When the run ended, or was last changed. */
  at: number;
}

interface CslDate {
  "date-parts": [number[]];
}

/** An item of the CSL-JSON schema. */
export interface CslItem {
  id: string;
  type: "webpage";
  title: string;
  "container-title"?: string;
  URL?: string;
  author?: { literal: string }[];
  issued?: CslDate;
  accessed: CslDate;
  note?: string;
}

const cslItems = ({ taskId, sources, pages, at }: CitedSources): CslItem[] =>
  sources.map((source) => itemOf(source, { taskId, page: pages?.get(source.n), at }));

function itemOf(
  source: Source,
  { taskId, page, at }: { taskId: string; page: PageFacts | undefined; at: number },
): CslItem {
  const expires = linkExpiry(source, at);
  const url = expires === undefined ? webUrl(source.resolved_url ?? source.url) : undefined;
  const site = isRedirect(`https://${source.domain}`) || source.domain === "" ? undefined : source.domain;
  const author = onOneLine(page?.author ?? "");
  const issued = dateOf(page?.date);
  const title = onOneLine(source.title);
  return {
    id: `run${taskId.slice(0, 8)}-${source.n}`,
    type: "webpage",
    title: title === "" ? source.domain : title,
    ...(site === undefined ? {} : { "container-title": site }),
    ...(url === undefined ? {} : { URL: url }),
    ...(author === "" ? {} : { author: [{ literal: author }] }),
    ...(issued === undefined ? {} : { issued }),
    accessed: dateOf(isoTime(page?.checkedAt ?? at)) ?? { "date-parts": [[1970]] },
    ...(expires === undefined ? {} : { note: expiryNote(source.url, expires) }),
  };
}

/** The address is normalised: a line break in it would begin another field in RIS. */
const expiryNote = (url: string, expires: string): string =>
  `Google's link to this page expires on ${expires}: ${webUrl(url) ?? ""}`;

/** Only dates that begin with the year: in others day and month cannot be told apart. */
function dateOf(text: string | undefined): CslDate | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)/.exec(text?.trim() ?? "") ?? [];
  if (year === undefined) return undefined;
  const parts = [year, month, day].filter((part) => part !== undefined).map(Number);
  const [, m = 1, d = 1] = parts;
  return m >= 1 && m <= 12 && d >= 1 && d <= 31 ? { "date-parts": [parts] } : { "date-parts": [[Number(year)]] };
}

/** `2024-03-01`, as exact as it is known. */
const isoDate = ({ "date-parts": [parts] }: CslDate): string =>
  parts.map((part, index) => String(part).padStart(index === 0 ? 4 : 2, "0")).join("-");
