/**
 * Reads a Markdown report that was written elsewhere, or saved here: its question, its date and its sources. Lists of
 * sources, link definitions and footnotes with one address become the one list that reports here end with, so that
 * their numbers in the text are citations.
 */

import { cleanText } from "../../platform/clean-text.ts";
import { isSourceListTitle } from "../citations.ts";
import { linkedSources } from "../document/document.ts";
import { headingOf, linesOf } from "../document/lines.ts";
import { onOneLine } from "../report-facts.ts";
import { numberSources, type Source } from "../report.ts";
import { webUrl } from "../web-address.ts";

export interface MarkdownReport {
  /** Undefined if the text has neither a title nor a line. */
  question: string | undefined;
  report: string;
  sources: Source[];
  /** As the text states it. */
  at: number | undefined;
}

export function readMarkdown(given: string): MarkdownReport {
  const { fields, body } = readFields(cleanText(given));
  const { body: text, entries } = takeEntries(body);
  const listed = numberEntries(entries);
  const cited = citeEntries(text, listed).trim();
  const list = listed.map(({ n, title, url }) => `${n}. [${title}](${url})`);
  const report = list.length === 0 ? cited : `${cited}\n\n## Sources\n\n${list.join("\n")}`;
  const { question, query, title, ...others } = fields;
  return {
    question: [question, query, title, titleIn(cited)].map((each) => onOneLine(each ?? "")).find((each) => each !== ""),
    report,
    sources: allSources(listed, cited),
    at: dateIn(others),
  };
}

const FRONT_MATTER = /^\s*---\n([^]{0,20000}?)\n(?:---|\.\.\.)\n/;
const FIELD = /^([\w-]+):[ \t]+(.+)$/gm;
/** As saved reports end here. */
const ABOUT = /\n## About this report\n\n((?:- \*\*[^*\n]+:\*\* .*\n?)+)/;
const FACT = /^- \*\*([^*\n]+):\*\* (.*)$/gm;

function readFields(text: string): { fields: Record<string, string>; body: string } {
  const [front = "", yaml = ""] = FRONT_MATTER.exec(text) ?? [];
  const [about = "", facts = ""] = ABOUT.exec(text) ?? [];
  const fields = [
    ...[...facts.matchAll(FACT)].map(([, name = "", value = ""]) => [name, withoutEscapes(value)] as const),
    ...[...yaml.matchAll(FIELD)].map(([, name = "", value = ""]) => [name, unquoted(value.trim())] as const),
  ];
  return {
    fields: Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value])),
    body: text.slice(front.length).replace(about, "\n"),
  };
}

const unquoted = (value: string): string => value.replace(/^(["'])(.*)\1$/, "$2");
const withoutEscapes = (value: string): string =>
  value.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1").replaceAll("&amp;", "&");

const DATES = ["completed", "date", "created", "created_at", "published", "updated"];

function dateIn(fields: Readonly<Record<string, string | undefined>>): number | undefined {
  const times = DATES.map((name) => Date.parse(fields[name] ?? ""));
  return times.find((at) => at > 0);
}

function titleIn(text: string): string | undefined {
  const lines = text.split("\n", 200);
  const heading = lines.map((line) => headingOf(line)?.title).find((title) => title !== undefined && title !== "");
  return heading ?? lines.find((line) => line.trim() !== "");
}

interface Entry {
  /** As the text refers to it. */
  label: string;
  title: string;
  url: string;
}

const DEFINITION = /^ {0,3}\[(\d{1,4})\]:[ \t]*<?(https?:\/\/[^\s>]+)>?[ \t]*(?:["'(](.*)["')])?[ \t]*$/;
const FOOTNOTE = /^ {0,3}\[(\^[^\s\][^]{1,60})\]:[ \t]*(.*)$/;
/** `1. Title, address`, `[1] Title, address`, and `- \[1\] [Title][1] (site)` of a file that was saved here. */
const LISTED = /^[ \t]*(?:[-*][ \t]+)?(?:(\d{1,4})[.)]|\\?\[\^?(\d{1,4})\\?\]:?)[ \t]+(.*)$/;
const LABELLED = /^\[(.*)\]\[(\d{1,4})\]/;

/** Removes the entries from the text. The titles of saved files stand apart from their addresses. */
function takeEntries(body: string): { body: string; entries: Entry[] } {
  const lines = [...linesOf(body)].map(({ start, end, code, heading }) => ({
    text: body.slice(start, end),
    code,
    heading,
  }));
  const list = lines.findLastIndex(({ text, code }) => code === undefined && isSourceListTitle(text.trim()));
  const entries: Entry[] = [];
  const titles = new Map<string, string>();
  const kept: string[] = [];
  let isInList = false;
  let listEnd = 0;
  for (const [index, { text, code, heading }] of lines.entries()) {
    const line = text.trimEnd();
    if (index === list) isInList = true;
    else if (heading !== undefined) isInList = false;
    const [, own, ownLabel] = LABELLED.exec(LISTED.exec(line)?.[3] ?? "") ?? [];
    const entry = code === undefined ? entryIn(line, isInList) : undefined;
    if (isInList && own !== undefined && ownLabel !== undefined) titles.set(ownLabel, plainTitle(own));
    else if (entry !== undefined) entries.push(entry);
    else {
      kept.push(text);
      if (isInList && index !== list && line !== "") listEnd = kept.length;
    }
  }
  const named = entries.map((entry) => ({ ...entry, title: entry.title || (titles.get(entry.label) ?? "") }));
  // The heading of a list that is taken out whole.
  const isEmpty = list >= 0 && entries.length > 0 && listEnd === 0;
  const heading = lines[list]?.text;
  const rest = isEmpty ? kept.filter((text) => text !== heading) : kept;
  return { body: rest.join(""), entries: named };
}

function entryIn(line: string, isInList: boolean): Entry | undefined {
  const [, n, defined, title = ""] = DEFINITION.exec(line) ?? [];
  if (n !== undefined && defined !== undefined) return entryOf(n, title, defined);
  const [, label, note = ""] = FOOTNOTE.exec(line) ?? [];
  // A note with several addresses is more than a source.
  if (label !== undefined) return addressesIn(note).length === 1 ? noteEntry(label, note) : undefined;
  const [, dotted, bracketed, text = ""] = isInList ? (LISTED.exec(line) ?? []) : [];
  const number = dotted ?? bracketed;
  return number === undefined ? undefined : noteEntry(number, text);
}

function noteEntry(label: string, text: string): Entry | undefined {
  const [url] = addressesIn(text);
  if (url === undefined) return undefined;
  const [, linked = ""] = /\[([^\]]*)\]\(https?:/.exec(text) ?? [];
  const isTitle = /\p{L}{2}/u.test(linked) && !/^https?:/.test(linked);
  const before = text.slice(0, text.search(/[[(<]*https?:\/\//));
  return entryOf(label, isTitle ? linked : before, url);
}

/** A bracket that closes one before the address is no part of it. */
const ADDRESS = /https?:\/\/[^\s<>"'`\]()]+(?:\([^\s<>"'`\]()]*\)[^\s<>"'`\]()]*)*/g;

const addressesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?*_]+$/, ""))),
];

const MAX_TITLE_CHARACTERS = 300;

function entryOf(label: string, title: string, address: string): Entry | undefined {
  const url = webUrl(address)?.replaceAll("(", "%28").replaceAll(")", "%29");
  if (url === undefined) return undefined;
  return { label, title: plainTitle(title), url };
}

/** Without what would end a link, its emphasis, and “, accessed on June 1, 2025,”. */
const plainTitle = (title: string): string =>
  onOneLine(withoutEscapes(title))
    .slice(0, MAX_TITLE_CHARACTERS)
    .toWellFormed()
    .replaceAll("[", "(")
    .replaceAll("]", ")")
    .replace(/,? (?:accessed|retrieved|abgerufen)(?: on| am)? .*$/i, "")
    .replaceAll(/^[\s*_"“]+|[\s*_"”,.:;–—|-]+$/g, "");

type NumberedEntry = Entry & { n: number };

const MAX_NUMBER = 9_999;

/** Numbers stay; footnotes with names, and numbers that two entries have, get the next ones. */
function numberEntries(entries: readonly Entry[]): NumberedEntry[] {
  const taken = new Set<number>();
  const wanted = entries.map(({ label }) => Number(label.replace("^", "")));
  const own = wanted.map((n) => {
    const isFree = Number.isInteger(n) && n > 0 && !taken.has(n);
    if (isFree) taken.add(n);
    return isFree ? n : undefined;
  });
  let next = Math.max(0, ...taken);
  return entries
    .map((entry, index) => ({ ...entry, n: own[index] ?? (next += 1) }))
    .filter(({ n }) => n <= MAX_NUMBER)
    .toSorted((one, other) => one.n - other.n);
}

/** A mark by number, footnote or superscript, also where a word precedes it; as saved reports have it, too. */
const MARKS =
  /\\\[\[\d{1,4}\]\\\]|<sup>\[?\d{1,4}(?:, ?\d{1,4}){0,9}\]?<\/sup>|\[(?:\^[^\s\][^]{1,60}|\d{1,4}(?:, ?\d{1,4}){0,9})\](?!\()/g;
const REFERENCE_LINK = /\[([^\]\n]{1,500})\]\[(\d{1,4})\]/g;

/** Writes what refers to an entry as Google does, and links by number as links. Code stays as it is. */
function citeEntries(body: string, entries: readonly NumberedEntry[]): string {
  if (entries.length === 0) return body;
  // The first of several that have one label.
  const byLabel = new Map(entries.toReversed().map((entry) => [entry.label, entry]));
  const linked = (whole: string, text: string, n: string): string => {
    const url = byLabel.get(n)?.url;
    return url === undefined || /^[\d^, ]+$/.test(text) ? whole : `[${text}](${url})`;
  };
  const numberOf = (label: string): number | undefined => (byLabel.get(label) ?? byLabel.get(`^${label}`))?.n;
  const marked = (whole: string): string => {
    const labels = whole.replaceAll(/<\/?sup>|[[\]\\]/g, "").split(",");
    const numbers = labels.map((label) => numberOf(label.trim()));
    return numbers.includes(undefined) ? whole : `[cite: ${numbers.join(", ")}]`;
  };
  const written = (text: string): string =>
    text.replaceAll(REFERENCE_LINK, linked).replaceAll(MARKS, (whole) => marked(whole));
  return [...linesOf(body)]
    .map(({ start, end, code }) => {
      const line = body.slice(start, end);
      // Every second piece is code.
      const pieces = code === undefined ? line.split(/(`+[^`\n]*`+)/) : ["", line];
      return pieces.map((piece, index) => (index % 2 === 0 ? written(piece) : piece)).join("");
    })
    .join("");
}

/** Those of the list, then other pages that the text links to. */
function allSources(entries: readonly NumberedEntry[], text: string): Source[] {
  const listed = entries.flatMap(({ n, title, url }) =>
    numberSources([{ url, title }]).map((source) => ({ ...source, n })),
  );
  const linked = linkedSources(text).filter(({ url }) => webUrl(url) !== undefined);
  const all = numberSources([...listed, ...linked]);
  const known = numberSources([...listed]).length;
  const last = Math.max(0, ...listed.map(({ n }) => n));
  return [...listed, ...all.slice(known).map((source, index) => ({ ...source, n: last + index + 1 }))];
}
