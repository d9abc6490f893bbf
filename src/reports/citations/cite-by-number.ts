/** Replaces links in a report to its own sources by the sources' numbers, because the source list has the URLs. */

import { MARK, numbersIn, withoutStartMarks } from "./positions.ts";
import { linkDefinitions, linkDefinition } from "./citation-numbers.ts";
import { isCodeCertain, outsideCode } from "../markdown/outside-code.ts";
import { listedSources, dropAmbiguousNumbers, removeSourceList } from "./own-source-list.ts";
import { pageKey } from "../page-key.ts";
import type { Source } from "../report.ts";

const URL_PATTERN = String.raw`https?:\/\/[^\s()<>[\]]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?`;
const LINK = String.raw`\[([^[\]]+)\]\((${URL_PATTERN})\)`;

/**
 * Matches `([title](url))`, `[title](url)` and `<url>`, but no image. A number after or before a bracket would be parsed as
 * part of a link, and one between the start of a line and a colon as a definition: these two are captured.
 */
const CITATION = new RegExp(
  String.raw`(?:(^[ \t]{0,3})|)(?<![\]\\])(?:\(${LINK}\)|(?<!!)${LINK}|<(${URL_PATTERN})>)(?![(\[])(?=(:)?)`,
  "gm",
);

export interface CitedReport {
  report: string;
  sources: Source[];
}

/**
 * In the result a number in brackets outside code is a source number, whatever numbering the report used. A link label
 * becomes the title of a source that has none.
 */
export function citeByNumber(original: string, sources: readonly Source[]): CitedReport {
  const report = withoutStartMarks(original);
  // Without certainty about code, the report's own numbers cannot be rewritten and would look like source numbers.
  if (!isCodeCertain(report)) return { report, sources: [...sources] };
  const byPage = new Map(sources.map((source) => [pageKey(source.url), source]));
  const titles = new Map<number, string>();
  const numberOf = (url: string, label: string): number | undefined => {
    const source = byPage.get(pageKey(url));
    if (source !== undefined && isUntitled(source) && isTitle(label)) titles.set(source.n, label.trim());
    return source?.n;
  };
  const explicit = removeSourceList(expandOwnMarks(report, new Set(sources.map(({ n }) => n))), sources);
  // A definition that is left, because it may be code, would redefine one of our numbers.
  if (linkDefinitions(explicit).size > 0) return { report, sources: [...sources] };
  const text = outsideCode(explicit, (prose) => {
    if (!prose.includes("://")) return prose;
    return prose.replaceAll(CITATION, (whole, ...groups: (string | undefined)[]) => {
      const [indent, aside, asideUrl, label, url, bare, colon] = groups;
      const n = numberOf(asideUrl ?? url ?? bare ?? "", aside ?? label ?? "");
      if (n === undefined || (indent !== undefined && colon !== undefined)) return whole;
      // In running text the label is part of the sentence.
      return `${indent ?? ""}${label === undefined || !isTitle(label) ? `[${n}]` : `${label} [${n}]`}`;
    });
  });
  return {
    report: text,
    sources: sources.map((source) => ({ ...source, title: titles.get(source.n) ?? source.title })),
  };
}

const REFERENCE = /(?<![!\\])\[([^[\]]+)\]\[(\d{1,4})\]/g;
const OWN_MARK = new RegExp(String.raw`(?<![!\\])(?<!\w(?=\[\d))${MARK}(?!\()`, "gi");

/**
 * Turns the report's own numbers into links. A number without a definition is escaped if a source has the same number.
 */
function expandOwnMarks(report: string, taken: ReadonlySet<number>): string {
  const defined = linkDefinitions(report);
  const urlOf = new Map(dropAmbiguousNumbers(listedSources(report)).map(({ n, url }) => [n, url]));
  const linked = (label: string, url: string): string => `[${label}](${url.replaceAll(/[()]/g, encodeURIComponent)})`;
  return outsideCode(report, (prose) => {
    if (!prose.includes("[")) return prose;
    if (linkDefinition(prose) !== undefined) return "";
    const text = prose.replaceAll(REFERENCE, (whole, label: string, n: string) => {
      const url = defined.get(Number(n));
      return url === undefined ? whole : linked(label, url);
    });
    return text.replaceAll(OWN_MARK, (mark, google: string | undefined, list: string) => {
      const numbers = numbersIn(list);
      const urls = numbers.map((n) => (google === undefined ? defined.get(n) : undefined) ?? urlOf.get(n));
      const isExplained = urls.some((url) => url !== undefined);
      if (!isExplained && google !== undefined) return mark;
      if (!isExplained) return numbers.some((n) => taken.has(n)) ? String.raw`\[${list}\]` : mark;
      return numbers
        .map((n, index) => (urls[index] === undefined ? String.raw`\[${n}\]` : linked(String(n), urls[index])))
        .join(" ");
    });
  });
}

const isUntitled = ({ title, domain }: Source): boolean => title === "" || title === domain;

/** False for a URL, a domain and a number. */
const isTitle = (label: string): boolean =>
  /\p{L}{2}/u.test(label) && !/^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+\/?\S*$)/.test(label);
